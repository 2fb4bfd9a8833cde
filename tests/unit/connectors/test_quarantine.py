"""Rejected records are kept byte for byte, once, and can be paged through."""

import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from connectors.errors import CorrectionLost, QuarantineCorrupt, RecordClosed, UnknownRecord
from connectors.quarantine.store import Quarantine, Rejected, Repair


def rejected(offset: int, table: str = "t", reason: str = "not-json") -> Rejected:
    return Rejected(table, f"topic-{table}", 0, offset, reason, "why", b'\xff\0"\n', 17)


def kept(store: Quarantine, **filters: Any) -> list[Rejected]:
    return [found.record for found in store.page(10, **filters)]


def test_records_are_kept_byte_for_byte_across_reopening(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    assert store.add([rejected(1)]) == 1
    store.close()
    assert kept(Quarantine(tmp_path / "q")) == [rejected(1)]


def test_a_damaged_file_is_told_with_its_path(tmp_path: Path) -> None:
    (tmp_path / "q").write_bytes(b"no database " * 100)
    with pytest.raises(QuarantineCorrupt, match=r"/q: .*restore the file"):
        Quarantine(tmp_path / "q")


def test_a_record_that_comes_again_is_kept_once(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    store.add([rejected(1), rejected(2)])
    assert store.add([rejected(2), rejected(3)]) == 1
    assert [r.offset for r in kept(store)] == [1, 2, 3]
    assert store.counts() == {("t", "topic-t", "not-json"): 3}


def test_pages_follow_one_another(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    everything = [rejected(n, table) for table in "ab" for n in range(5)]
    store.add(everything)
    seen: list[Rejected] = []
    after = None
    while page := store.page(3, after):
        seen += [found.record for found in page]
        after = seen[-1].place
    assert seen == everything


def test_a_page_may_be_of_one_table(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    store.add([rejected(1, "a"), rejected(1, "b")])
    assert kept(store, table="b") == [rejected(1, "b")]


def test_counts_are_by_reason_and_survive_reopening(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    store.add([rejected(1), rejected(2, reason="wrong-type"), rejected(3)])
    store.close()
    counts = Quarantine(tmp_path / "q").counts()
    assert counts == {("t", "topic-t", "not-json"): 2, ("t", "topic-t", "wrong-type"): 1}


PLACE = ("t", 0, 1)
FIXED = Repair(b"key", b"{}")

# A file as it was before records had keys, headers and a status.
FORMER = """
CREATE TABLE rejected (
"table" TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
reason TEXT NOT NULL, message TEXT NOT NULL, value BLOB NOT NULL, seen_ms INTEGER NOT NULL,
PRIMARY KEY ("table", partition, "offset")
)
"""


@pytest.fixture
def store(tmp_path: Path) -> Quarantine:
    """A store with one record, at `PLACE`."""
    made = Quarantine(tmp_path / "q")
    made.add([rejected(1)])
    return made


def test_all_that_a_topic_says_of_a_record_is_kept(tmp_path: Path) -> None:
    full = replace(
        rejected(1), value=None, key=b"", timestamp=5, headers=(("h", b"\xff"), ("h", None))
    )
    Quarantine(tmp_path / "q").add([full])
    assert kept(Quarantine(tmp_path / "q")) == [full]


def test_a_file_of_the_former_form_keeps_its_records(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "q")) as former, former:
        former.execute(FORMER)
        former.execute(
            "INSERT INTO rejected VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            ("t", "topic-t", 0, 1, "not-json", "why", b'\xff\0"\n', 17),
        )
    for _ in range(2):
        with closing(Quarantine(tmp_path / "q")) as store:
            assert store.get(PLACE).status == "open"
            assert kept(store) == [rejected(1)]


def test_only_the_owner_may_read_the_file(tmp_path: Path) -> None:
    Quarantine(tmp_path / "q").add([rejected(1)])
    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_a_repair_is_what_a_replay_decodes(store: Quarantine) -> None:
    assert store.get(PLACE).content == Repair(None, b'\xff\0"\n')
    assert store.fix(PLACE, FIXED).content == FIXED
    assert store.fix(PLACE, None).content == Repair(None, b'\xff\0"\n')
    assert store.get(PLACE).record == rejected(1), "the record itself stays as it is"


def test_a_replayed_record_is_closed(store: Quarantine) -> None:
    correction = store.fix(PLACE, FIXED).correction()
    store.close_as_replayed([correction], 7)
    store.close_as_replayed([correction], 7)
    found = store.get(PLACE)
    assert (found.status, found.time) == ("replayed", 7)
    assert store.used(correction) == found
    assert not any(store.counts().values())
    with pytest.raises(RecordClosed, match="was applied at time 7"):
        store.fix(PLACE, None)
    with pytest.raises(RecordClosed, match="was applied at time 7"):
        store.discard(PLACE)


def test_a_discarded_record_is_kept_and_a_repair_opens_it(store: Quarantine) -> None:
    assert store.discard(PLACE).status == "discarded"
    assert kept(store, status="discarded") == [rejected(1)]
    assert not any(store.counts().values())
    assert store.fix(PLACE, None).status == "open"


def test_a_record_of_a_dropped_table_is_orphaned_until_it_is_met_again(store: Quarantine) -> None:
    store.orphan({"t": 1})
    assert store.get(PLACE).status == "orphaned"
    with pytest.raises(RecordClosed, match="dropped"):
        store.fix(PLACE, FIXED)
    anew = replace(rejected(1, reason="wrong-type"), epoch=1)
    assert store.add([anew]) == 1
    assert store.add([anew, rejected(1)]) == 0
    assert (store.get(PLACE).record, store.get(PLACE).status) == (anew, "open")


def test_a_place_without_a_record_is_told(store: Quarantine) -> None:
    with pytest.raises(UnknownRecord, match="table 't', partition 0, offset 2"):
        store.get(("t", 0, 2))


def test_bytes_that_the_journal_names_must_be_there(store: Quarantine) -> None:
    correction = store.get(PLACE).correction()
    store.fix(PLACE, FIXED)
    with pytest.raises(CorrectionLost, match="holds other bytes"):
        store.used(correction)
    with pytest.raises(CorrectionLost, match="lacks the record"):
        store.used(replace(correction, offset=2))


def test_an_absent_key_is_not_an_empty_one(store: Quarantine) -> None:
    absent = store.fix(PLACE, Repair(None, b"v")).correction()
    assert store.fix(PLACE, Repair(b"", b"v")).correction().digest != absent.digest


def test_pages_may_be_of_one_reason(store: Quarantine) -> None:
    store.add([rejected(2, reason="wrong-type")])
    assert kept(store, reason="wrong-type") == [rejected(2, reason="wrong-type")]
