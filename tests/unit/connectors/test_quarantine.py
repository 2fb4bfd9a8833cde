"""Rejected records are kept byte for byte, once, and can be paged through."""

from pathlib import Path

from connectors.quarantine import Quarantine, Rejected


def rejected(offset: int, table: str = "t", reason: str = "not-json") -> Rejected:
    return Rejected(table, f"topic-{table}", 0, offset, reason, "why", b'\xff\0"\n', 17)


def test_records_are_kept_byte_for_byte_across_reopening(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    assert store.add([rejected(1)]) == 1
    store.close()
    assert Quarantine(tmp_path / "q").page(10) == [rejected(1)]


def test_a_record_that_comes_again_is_kept_once(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    store.add([rejected(1), rejected(2)])
    assert store.add([rejected(2), rejected(3)]) == 1
    assert [r.offset for r in store.page(10)] == [1, 2, 3]
    assert store.counts() == {("t", "topic-t", "not-json"): 3}


def test_pages_follow_one_another(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    everything = [rejected(n, table) for table in "ab" for n in range(5)]
    store.add(everything)
    seen: list[Rejected] = []
    after = None
    while page := store.page(3, after):
        seen += page
        after = (page[-1].table, page[-1].partition, page[-1].offset)
    assert seen == everything


def test_a_page_may_be_of_one_table(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    store.add([rejected(1, "a"), rejected(1, "b")])
    assert store.page(10, table="b") == [rejected(1, "b")]


def test_counts_are_by_reason_and_survive_reopening(tmp_path: Path) -> None:
    store = Quarantine(tmp_path / "q")
    store.add([rejected(1), rejected(2, reason="wrong-type"), rejected(3)])
    store.close()
    counts = Quarantine(tmp_path / "q").counts()
    assert counts == {("t", "topic-t", "not-json"): 2, ("t", "topic-t", "wrong-type"): 1}
