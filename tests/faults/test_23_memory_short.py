"""Row 23: memory is short amid a batch. The service stops clearly, and heals by a restart."""

from pathlib import Path

import pytest

import ivm.installed.steps
from api.services.definition import Definition
from ivm.errors import OutOfMemory
from tests.faults.test_24_workers import told
from tests.unit.api.filed import pipeline_of, runtime_on, take_checkpoint, write_rows
from tests.unit.api.test_checkpoints import ORDERS, TOTALS, folded, order, rows


def _short(*_: object) -> None:
    raise OutOfMemory("memory is short")


@pytest.mark.parametrize("has_checkpoint", [True, False])
def test_a_batch_for_which_memory_was_short_is_applied_once_after_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, has_checkpoint: bool
) -> None:
    runtime = runtime_on(tmp_path)
    runtime.sources.put(ORDERS)
    runtime.views.put(Definition("totals", TOTALS))
    write_rows(tmp_path, "orders", (order(1), 1))
    pipeline_of(runtime).step()
    if has_checkpoint:
        assert take_checkpoint(runtime)
    write_rows(tmp_path, "orders", (order(2), 1), (order(3, "bob"), 1))
    with monkeypatch.context() as patched:
        patched.setattr(ivm.installed.steps.Steps, "_step", _short)
        with pytest.raises(OutOfMemory):
            pipeline_of(runtime).step()
    assert not take_checkpoint(runtime), "what is half done is no checkpoint"
    before = folded(tmp_path)[0]
    again = runtime_on(tmp_path)
    assert [row["orders"] for row in rows(again)] == [2, 1]
    assert folded(tmp_path)[0] != before
    assert folded(tmp_path)[0] == told(rows(again))
