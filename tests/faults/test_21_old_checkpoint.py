"""Row 21: an old checkpoint is put back. It serves while the journal has what follows it."""

import shutil
from pathlib import Path

import pytest

from api.runtime import Runtime
from api.services.definition import Definition
from tests.unit.api.filed import pipeline_of, runtime_on, take_checkpoint, write_rows
from tests.unit.api.test_checkpoints import ORDERS, TOTALS, folded, order, rows


def apply(runtime: Runtime, data: Path, number: int) -> None:
    """Apply records at one more time."""
    write_rows(data, "orders", (order(number), 1), (order(number + 100, "bob"), 1))
    pipeline_of(runtime).step()


@pytest.fixture
def saved(tmp_path: Path) -> Runtime:
    """A service whose checkpoints were copied once it had one, at time 1."""
    runtime = runtime_on(tmp_path)
    runtime.sources.put(ORDERS)
    runtime.views.put(Definition("totals", TOTALS))
    apply(runtime, tmp_path, 1)
    assert take_checkpoint(runtime)
    shutil.copytree(tmp_path / "checkpoints", tmp_path / "copy")
    return runtime


def put_back(data: Path) -> None:
    shutil.rmtree(data / "checkpoints")
    shutil.copytree(data / "copy", data / "checkpoints")


@pytest.mark.parametrize("later", [0, 1])
def test_an_old_checkpoint_serves_while_the_journal_has_what_follows(
    saved: Runtime, tmp_path: Path, later: int
) -> None:
    for number in (2, 3, 4):
        apply(saved, tmp_path, number)
        if number < 2 + later:
            assert take_checkpoint(saved)
    expected, published = rows(saved), folded(tmp_path)
    saved.stop()
    put_back(tmp_path)
    again = runtime_on(tmp_path)
    assert again.readiness.fault() is None
    assert pipeline_of(again).replayed == 3
    assert rows(again) == expected
    assert folded(tmp_path) == published


def test_one_that_the_journal_does_not_reach_back_to_is_refused_by_name(
    saved: Runtime, tmp_path: Path
) -> None:
    for number in (2, 3):
        apply(saved, tmp_path, number)
        assert take_checkpoint(saved)
    published = folded(tmp_path)
    saved.stop()
    put_back(tmp_path)
    fault = str(runtime_on(tmp_path).readiness.fault())
    assert f"{1:020d}.manifest: it is too old" in fault
    assert "Restore the checkpoints" in fault
    assert folded(tmp_path) == published


def test_a_journal_older_than_the_checkpoint_is_refused(saved: Runtime, tmp_path: Path) -> None:
    saved.stop()
    old = (tmp_path / "journal").read_bytes()
    again = runtime_on(tmp_path)
    apply(again, tmp_path, 2)
    assert take_checkpoint(again)
    published = folded(tmp_path)
    again.stop()
    (tmp_path / "journal").write_bytes(old)
    fault = str(runtime_on(tmp_path).readiness.fault())
    assert f"{2:020d}.manifest is of another journal, or of a later state of this one" in fault
    assert folded(tmp_path) == published


def test_a_new_journal_beside_old_checkpoints_is_refused(saved: Runtime, tmp_path: Path) -> None:
    saved.stop()
    (tmp_path / "journal").unlink()
    assert "another journal" in str(runtime_on(tmp_path).readiness.fault())
