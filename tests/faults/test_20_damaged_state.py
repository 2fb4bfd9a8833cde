"""Row 20: a checkpoint or the journal is corrupted or cut short.

What is left is used where it suffices, else the service refuses to start and names the file; it
never guesses.
"""

import random
import shutil
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from api.services.definition import Definition
from connectors.errors import JournalCorrupt, PipelineFailed
from tests.unit.api.filed import make_runtime, pipeline_of, runtime_on, take_checkpoint, write_rows
from tests.unit.api.test_checkpoints import ORDERS, TOTALS, folded, order, rows

DAMAGES = ("flipped", "cut")


@pytest.fixture
def expected(tmp_path: Path) -> list[dict[str, Any]]:
    """What a service showed that was stopped with two checkpoints, and a time beyond them."""
    runtime = runtime_on(tmp_path)
    runtime.sources.put(ORDERS)
    runtime.views.put(Definition("totals", TOTALS))
    for number in range(4):
        write_rows(tmp_path, "orders", (order(number), 1), (order(number + 100, "bob"), 1))
        pipeline_of(runtime).step()
        if number in (1, 2):
            assert take_checkpoint(runtime)
    assert runtime.journal.base == 2
    found = rows(runtime)
    runtime.stop()
    return found


def damage(path: Path, how: str, chance: random.Random) -> None:
    content = bytearray(path.read_bytes())
    position = chance.randrange(len(content) - 1)
    if how == "flipped":
        content[position] ^= 1 << chance.randrange(8)
    path.write_bytes(content[: position if how == "cut" else None])


def checkpoint_files(data: Path, time: int) -> list[Path]:
    return sorted((data / "checkpoints").glob(f"{time:020d}*"))


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_checkpoint_gives_way_to_the_one_before(
    tmp_path: Path, expected: list[dict[str, Any]], how: str
) -> None:
    chance = random.Random(20)
    for path in checkpoint_files(tmp_path, 3):
        whole = path.read_bytes()
        for _ in range(5):
            damage(path, how, chance)
            again = runtime_on(tmp_path)
            assert again.readiness.fault() is None
            assert pipeline_of(again).replayed == 2
            assert rows(again) == expected
            again.stop()
            path.write_bytes(whole)
    assert folded(tmp_path)[1] == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("how", DAMAGES)
def test_without_any_good_checkpoint_the_service_names_the_files_and_refuses(
    tmp_path: Path, expected: list[dict[str, Any]], how: str
) -> None:
    chance = random.Random(20)
    damaged = [checkpoint_files(tmp_path, time)[0] for time in (2, 3)]
    for path in damaged:
        damage(path, how, chance)
    before = folded(tmp_path)
    runtime = make_runtime(tmp_path)
    with TestClient(create_app(runtime)) as client:
        with pytest.raises(PipelineFailed):
            runtime.readiness.wait()
        answer = client.get("/readyz")
        assert answer.status_code == 503
        # One for each checkpoint: the newer one may stand on the older one's file as well.
        said = answer.json()["detail"]
        assert sum(said.count(path.name) for path in damaged) == len(damaged)
    assert folded(tmp_path) == before


def test_what_is_damaged_is_deleted_once_another_checkpoint_stands(
    tmp_path: Path, expected: list[dict[str, Any]]
) -> None:
    damaged = checkpoint_files(tmp_path, 3)
    for path in damaged:
        path.write_bytes(b"")
    again = runtime_on(tmp_path)
    assert take_checkpoint(again)
    assert not any(path.exists() for path in damaged)
    assert again.journal.base == 2
    again.stop()
    newest = checkpoint_files(tmp_path, 4)[0]
    newest.write_bytes(b"")
    assert rows(runtime_on(tmp_path)) == expected


def test_a_service_whose_state_was_removed_as_the_message_says_begins_anew(
    tmp_path: Path, expected: list[dict[str, Any]]
) -> None:
    (tmp_path / "journal").unlink()
    for directory in (tmp_path / "checkpoints", *(tmp_path / "topics").glob("deltas.*")):
        shutil.rmtree(directory)
    again = runtime_on(tmp_path)
    assert again.readiness.fault() is None
    pipeline_of(again).step()
    assert rows(again) == expected
    assert folded(tmp_path)[1] == [1]


@pytest.mark.parametrize("how", DAMAGES)
def test_a_damaged_journal_is_refused_or_its_last_line_done_again(
    tmp_path: Path, expected: list[dict[str, Any]], how: str
) -> None:
    chance = random.Random(20)
    journal = tmp_path / "journal"
    whole = journal.read_bytes()
    outcomes = set()
    for _ in range(25):
        journal.write_bytes(whole)
        damage(journal, how, chance)
        outcomes.add(_opened(tmp_path, expected))
    assert "refused" in outcomes
    assert outcomes <= {"refused", "the same"}


def _opened(data: Path, expected: list[dict[str, Any]]) -> str:
    try:
        runtime: Runtime = runtime_on(data)
    except JournalCorrupt as error:
        return "refused" if str(data / "journal") in str(error) else str(error)
    fault = runtime.readiness.fault()
    if fault is None:
        pipeline_of(runtime).step()
        assert rows(runtime) == expected
        assert folded(data)[1] == [0, 1, 2, 3, 4]
    runtime.stop()
    return "the same" if fault is None else "refused" if "checkpoints" in fault else fault
