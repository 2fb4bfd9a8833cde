"""The journal survives any crash while appending, and refuses to guess when it is damaged."""

import subprocess
import sys
import zlib
from pathlib import Path

import orjson
import pytest

from connectors.errors import JournalCorrupt, JournalInUse, OffsetGap
from connectors.progress.batches import Correction, Range
from connectors.progress.journal import Beginning, Entry, Journal


def range_of(first: int, end: int, table: str = "t", partition: int = 0) -> Range:
    return Range(table, table, partition, first, end)


def filled(path: Path) -> None:
    journal = Journal(path)
    journal.prepare(1, [range_of(0, 5)], 0)
    journal.commit(1, {"v": 3})
    journal.prepare(2, [range_of(5, 8), range_of(0, 2, partition=1)], 0)
    journal.commit(2, {"w": 4})
    journal.prepare(3, [range_of(8, 9)], 0)
    journal.close()


def test_everything_is_there_again_after_reopening(tmp_path: Path) -> None:
    filled(tmp_path / "j")
    journal = Journal(tmp_path / "j")
    assert journal.entries() == [
        Entry(1, (range_of(0, 5),), 0),
        Entry(2, (range_of(5, 8), range_of(0, 2, partition=1)), 0),
        Entry(3, (range_of(8, 9),), 0),
    ]
    assert (journal.last_time, journal.committed_time) == (3, 2)
    assert journal.published == {"v": 3, "w": 4}
    assert journal.positions() == {("t", 0): 9, ("t", 1): 2}
    assert journal.tables == {"t": "t"}


def test_corrections_are_there_again_and_end_with_their_table(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    corrections = tuple(Correction(name, name, 0, 7, "digest") for name in "tu")
    journal.prepare(1, (), 4)
    journal.prepare(2, (), 5, corrections)
    journal.commit(2, {})
    for _ in range(2):
        journal.close()
        journal = Journal(tmp_path / "j")
        assert journal.entries()[-1] == Entry(2, (), 5, corrections)
        assert journal.positions() == {}
        journal.compact(1)
    journal.drop_table("t")
    assert journal.entries() == [Entry(2, (), 5, corrections[1:])]


def test_a_new_journal_is_empty(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    assert (journal.last_time, journal.committed_time) == (0, 0)
    assert journal.entries() == []


def test_a_journal_cut_anywhere_opens_with_its_whole_lines_and_goes_on(tmp_path: Path) -> None:
    filled(tmp_path / "j")
    content = (tmp_path / "j").read_bytes()
    for size in range(len(content)):
        path = tmp_path / "cut"
        path.write_bytes(content[:size])
        journal = Journal(path)
        whole = content[:size].count(b"\n")
        assert path.read_bytes() == b"".join(content.splitlines(keepends=True)[:whole])
        time = journal.last_time + 1
        journal.prepare(time, [range_of(0, 1, "other")], 0)
        journal.close()
        journal = Journal(path)
        assert journal.last_time == time
        journal.close()


def test_a_damaged_last_line_is_taken_for_a_torn_one(tmp_path: Path) -> None:
    filled(tmp_path / "j")
    content = bytearray((tmp_path / "j").read_bytes())
    content[-3] ^= 1
    (tmp_path / "j").write_bytes(content)
    assert Journal(tmp_path / "j").last_time == 2


def test_damage_before_the_last_line_halts(tmp_path: Path) -> None:
    filled(tmp_path / "j")
    content = (tmp_path / "j").read_bytes()
    last = content.rstrip(b"\n").rindex(b"\n")
    for position in range(0, last, 7):
        damaged = bytearray(content)
        damaged[position] ^= 4
        (tmp_path / "j").write_bytes(damaged)
        with pytest.raises(JournalCorrupt):
            Journal(tmp_path / "j")


def test_a_range_must_adjoin_the_one_before(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.prepare(1, [range_of(3, 5)], 0)
    with pytest.raises(OffsetGap, match="'t', partition 0"):
        journal.prepare(2, [range_of(6, 7)], 0)
    assert journal.last_time == 1


def test_a_dropped_table_has_no_positions_and_is_not_replayed(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.prepare(1, [range_of(0, 5), range_of(0, 1, "u")], 0)
    journal.drop_table("t")
    journal.prepare(2, [range_of(0, 2)], 0)
    journal.close()
    journal = Journal(tmp_path / "j")
    assert journal.entries() == [
        Entry(1, (range_of(0, 1, "u"),), 0),
        Entry(2, (range_of(0, 2),), 0),
    ]
    assert journal.positions() == {("t", 0): 2, ("u", 0): 1}
    assert (journal.epoch("t"), journal.epoch("u")) == (1, 0)


def test_a_dropped_view_has_no_published_end(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "j")
    journal.commit(0, {"v": 2, "w": 1})
    journal.drop_view("v")
    journal.close()
    assert Journal(tmp_path / "j").published == {"w": 1}


def test_the_disk_has_the_end_of_a_new_view_before_anybody_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "j")
    synced: list[int] = []
    monkeypatch.setattr("connectors.files.durable.os.fdatasync", synced.append)
    journal.commit(0, {"v": 1})
    assert len(synced) == 1
    journal.commit(0, {"v": 2})
    assert len(synced) == 1


def test_a_full_disk_leaves_the_journal_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = Journal(tmp_path / "j")
    journal.prepare(1, [range_of(0, 5)], 0)
    before = (tmp_path / "j").read_bytes()

    def full(file: int) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as patched:
        patched.setattr("connectors.files.durable.os.fdatasync", full)
        with pytest.raises(OSError, match="no space"):
            journal.prepare(2, [range_of(5, 6)], 0)
    assert (tmp_path / "j").read_bytes() == before
    journal.prepare(2, [range_of(5, 6)], 0)
    journal.close()
    assert Journal(tmp_path / "j").last_time == 2


def test_a_journal_is_open_in_one_process_only(tmp_path: Path) -> None:
    other = (
        "import sys; from pathlib import Path; from connectors.progress.journal import Journal; "
        "Journal(Path(sys.argv[1])); print('open', flush=True); sys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", other, str(tmp_path / "j")],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"open\n"
        with pytest.raises(JournalInUse):
            Journal(tmp_path / "j")
        process.kill()
    assert Journal(tmp_path / "j").last_time == 0


def test_a_time_without_a_moment_was_given_at_the_epoch(tmp_path: Path) -> None:
    body = orjson.dumps({"prepared": 1, "ranges": [["t", "t", 0, 0, 5]]})
    (tmp_path / "j").write_bytes(b"%08x %s\n" % (zlib.crc32(body), body))
    assert Journal(tmp_path / "j").entries() == [Entry(1, (range_of(0, 5),), 0)]


def test_the_origin_of_a_table_is_kept_until_it_is_dropped(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    beginning = Beginning("topic", "id", {0: 7, 1: 0})
    journal.start_table("t", beginning)
    journal.prepare(1, [Range("t", "topic", 0, 7, 9)], 0)
    assert journal.positions_at(0) == {("t", 0): 7, ("t", 1): 0}
    journal.compact(1)
    journal.close()
    journal = Journal(tmp_path / "journal")
    assert journal.beginnings == {"t": beginning}
    assert journal.positions() == {("t", 0): 9, ("t", 1): 0}
    assert journal.tables == {"t": "topic"}
    journal.drop_table("t")
    assert (journal.beginnings, journal.positions(), journal.tables) == ({}, {}, {})
