"""A compacted journal says what the whole one said, less what a checkpoint holds."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from connectors.errors import JournalCorrupt, JournalInUse, OffsetGap
from connectors.progress.batches import Range
from connectors.progress.journal import Entry, Journal


def range_of(first: int, end: int, table: str = "t", partition: int = 0) -> Range:
    return Range(table, table, partition, first, end)


def filled(path: Path) -> Journal:
    journal = Journal(path)
    journal.prepare(1, [range_of(0, 5), range_of(0, 9, "gone")], 10)
    journal.commit(1, {"v": 3, "w": 1})
    journal.prepare(2, [range_of(5, 8), range_of(0, 2, partition=1)], 20)
    journal.commit(2, {"w": 4})
    journal.drop_table("gone")
    journal.fail_view("w", "it does not end")
    journal.prepare(3, [range_of(8, 9)], 30)
    journal.commit(3, {"v": 5})
    journal.prepare(4, [], 40)
    journal.commit(4, {})
    return journal


def told(journal: Journal) -> dict[str, Any]:
    """All that a journal tells but its entries."""
    names = "identity last_time committed_time committed_moment published failed tables"
    told = {name: getattr(journal, name) for name in names.split()}
    return told | {
        "positions": journal.positions(),
        "epochs": [journal.epoch(table) for table in ("t", "gone")],
    }


@pytest.mark.parametrize("time", [1, 2, 3, 4])
def test_only_entries_are_forgotten(tmp_path: Path, time: int) -> None:
    journal = filled(tmp_path / "j")
    before, entries = told(journal), list(journal.entries())
    at_time = journal.positions_at(time)
    journal.compact(time)
    for _ in range(2):
        assert told(journal) == before
        assert journal.base == time
        assert journal.positions_at(time) == at_time
        assert journal.entries() == [entry for entry in entries if entry.time > time]
        journal.close()
        journal = Journal(tmp_path / "j")


def test_a_compacted_journal_goes_on(tmp_path: Path) -> None:
    journal = filled(tmp_path / "j")
    journal.compact(3)
    with pytest.raises(OffsetGap, match="the next offset is 9"):
        journal.prepare(5, [range_of(10, 11)], 50)
    journal.prepare(5, [range_of(9, 11)], 50)
    journal.commit(5, {"x": 1})
    journal.drop_table("t")
    journal.close()
    journal = Journal(tmp_path / "j")
    assert (journal.committed_time, journal.committed_moment) == (5, 50)
    assert journal.published == {"v": 5, "w": 4, "x": 1}
    assert journal.positions() == {}
    assert journal.positions_at(3) == {}


def test_it_grows_with_what_no_checkpoint_holds(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    sizes = []
    for time in range(1, 1_001):
        journal.prepare(time, [range_of(time - 1, time)], time)
        journal.commit(time, {"v": time})
        if time % 100 == 0:
            journal.compact(time - 10)
            sizes.append((tmp_path / "j").stat().st_size)
    assert max(sizes) < min(sizes) + 200
    assert len(journal.entries()) == 10


def test_replay_begins_after_a_checkpoint(tmp_path: Path) -> None:
    journal = filled(tmp_path / "j")
    journal.compact(1)
    journal.start_after(2)
    assert journal.entries() == [Entry(3, (range_of(8, 9),), 30)]
    assert journal.positions_at(journal.start) == {("t", 0): 8, ("t", 1): 2}


def test_a_full_disk_leaves_the_journal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = filled(tmp_path / "j")
    before = (tmp_path / "j").read_bytes()

    def full(file: int) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr("connectors.progress.journal.os.fsync", full)
        with pytest.raises(OSError, match="no space"):
            journal.compact(2)
    assert (tmp_path / "j").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["j"]
    journal.prepare(5, [range_of(9, 11)], 50)
    journal.close()
    assert Journal(tmp_path / "j").last_time == 5


def test_damage_to_the_state_halts(tmp_path: Path) -> None:
    journal = filled(tmp_path / "j")
    journal.compact(3)
    journal.close()
    content = (tmp_path / "j").read_bytes()
    assert content.count(b"\n") == 1
    for position in range(30, len(content) - 1, 5):
        damaged = bytearray(content)
        damaged[position] ^= 4
        (tmp_path / "j").write_bytes(damaged)
        with pytest.raises(JournalCorrupt):
            Journal(tmp_path / "j")


def test_two_journals_are_told_apart(tmp_path: Path) -> None:
    first, second = Journal(tmp_path / "1"), Journal(tmp_path / "2")
    assert first.identity != second.identity
    known = first.identity
    first.close()
    assert Journal(tmp_path / "1").identity == known


OTHER = """
import sys
from pathlib import Path
from connectors.progress.journal import Journal
journal = Journal(Path(sys.argv[1]))
journal.prepare(1, (), 0)
journal.compact(1)
print("open", flush=True)
sys.stdin.read()
"""


def test_a_compacted_journal_is_open_in_one_process_only(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path / "j")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        with pytest.raises(JournalInUse):
            Journal(tmp_path / "j")
        process.kill()
    assert Journal(tmp_path / "j").base == 1


def test_what_is_appended_while_the_journal_is_rewritten_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = filled(tmp_path / "j")
    synced = os.fsync

    def sync_slowly(file: int) -> None:
        monkeypatch.setattr("connectors.progress.journal.os.fsync", synced)
        journal.prepare(5, [range_of(9, 12)], 50)
        journal.commit(5, {"v": 9})
        journal.drop_view("w")
        synced(file)

    monkeypatch.setattr("connectors.progress.journal.os.fsync", sync_slowly)
    journal.compact(2)
    for _ in range(2):
        assert (journal.base, journal.committed_time, journal.committed_moment) == (2, 5, 50)
        assert [entry.time for entry in journal.entries()] == [3, 5]
        assert journal.published == {"v": 9}
        assert journal.failed == {}
        assert journal.positions_at(5) == journal.positions() == {("t", 0): 12, ("t", 1): 2}
        journal.close()
        journal = Journal(tmp_path / "j")
