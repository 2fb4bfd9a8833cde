"""A checkpoint is due after some time, or some records, those replayed at the start among them."""

import threading
from pathlib import Path

import pytest

from connectors.checkpoint.periodic import Checkpoints
from connectors.checkpoint.store import LocalStore
from connectors.checkpoint.writer import CheckpointWriter, Cut
from connectors.progress.batches import Range
from connectors.progress.journal import Journal

NEVER = 1e6


class Asked:
    """A source of cuts that has nothing to write, and tells when it was asked."""

    def __init__(self) -> None:
        self.event = threading.Event()
        self.fault: Exception | None = None

    def cut(self) -> Cut | None:
        self.event.set()
        if self.fault is not None:
            raise self.fault
        return None


def checkpoints(
    path: Path, asked: Asked, seconds: float, due: int, records: int = 0, replayed: int = 0
) -> Checkpoints:
    journal = Journal(path / "journal")
    if replayed:
        journal.prepare(1, [Range("t", "t", 0, 0, replayed)], 0)
    writer = CheckpointWriter(LocalStore(path / "checkpoints"), 2)
    return Checkpoints(writer, journal, asked.cut, lambda: records, seconds, due)


@pytest.mark.parametrize(("seconds", "due", "replayed"), [(0.01, 100, 0), (NEVER, 100, 100)])
def test_one_is_taken_when_it_is_due(
    tmp_path: Path, seconds: float, due: int, replayed: int
) -> None:
    asked = Asked()
    found = checkpoints(tmp_path, asked, seconds, due, replayed=replayed)
    found.start()
    assert asked.event.wait(10)
    found.stop()
    assert (found.counts.written, found.counts.failures) == (0, 0)


def test_none_is_taken_before(tmp_path: Path) -> None:
    asked = Asked()
    found = checkpoints(tmp_path, asked, NEVER, 100, records=99)
    found.start()
    assert not asked.event.wait(0.7)
    found.stop()


def test_one_is_taken_on_each_new_occasion_and_once(tmp_path: Path) -> None:
    asked, occasions = Asked(), ["a stall"]
    writer = CheckpointWriter(LocalStore(tmp_path / "checkpoints"), 2)
    journal = Journal(tmp_path / "journal")
    found = Checkpoints(writer, journal, asked.cut, int, NEVER, 100, lambda: occasions[-1])
    found.start()
    assert asked.event.wait(10), "on the one that there is at the start"
    asked.event.clear()
    assert not asked.event.wait(0.7)
    occasions.append("another")
    assert asked.event.wait(10)
    found.stop()


def test_what_goes_wrong_is_counted_and_does_not_end_it(tmp_path: Path) -> None:
    asked = Asked()
    asked.fault = OSError("no space left")
    found = checkpoints(tmp_path, asked, 0.01, 100)
    found.start()
    for _ in range(2):
        assert asked.event.wait(10)
        asked.event.clear()
    found.stop()
    assert found.counts.failures >= 1
    assert found.counts.error == "OSError: no space left"
