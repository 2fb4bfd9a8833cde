"""Records of progress: small whatever the number of views, and read again from what is left."""

import random
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

import pytest

from connectors.errors import SinkDiverged
from connectors.sinks.kafka.progress import FULL_EVERY, Progress, Published, decode, is_key

VIEWS = 213
Record = tuple[bytes, bytes]


def view(name: str, frontiers: int = 3) -> Published:
    """A view that has just been made."""
    identity = f"{name}-2bb9d14e-9f7e"
    return Published(name, identity, "0123456789abcdef" * 2, 7, frontiers=frontiers)


def begun(count: int = VIEWS) -> Progress:
    """The full record of a start with so many views."""
    views = {f"view {n}": view(f"topic {n}") for n in range(count)}
    return Progress("service", "instance").next(views, in_full=True)


def after(earlier: Progress, *changed: str) -> Progress:
    """The record of a time in which these views alone have changed."""
    views = {name: one.advanced(earlier.time + 1) for name, one in earlier.views.items()}
    for name in changed:
        views[name] = replace(views[name], sequence=views[name].sequence + 1, digest="abc")
    return earlier.next(views, advances=True, time=earlier.time + 1)


def written(records: Iterable[Progress]) -> Iterator[Record]:
    return ((record.key("main"), record.encode()) for record in records)


def read(records: Iterable[Record]) -> Progress | None:
    """The last record, as it is read."""
    found = None
    for key, value in records:
        assert is_key(key, "main")
        found = decode(value, "here", found)
    return found


def compacted(records: Iterable[Record]) -> list[Record]:
    """The last record of each key, in the order of the topic."""
    found = list(records)
    last = {key: number for number, (key, _) in enumerate(found)}
    return [found[number] for number in sorted(last.values())]


def at_random(first: Progress, count: int, chance: random.Random) -> list[Progress]:
    """So many records, in which views are made, change, lag, fail and go."""
    records = [first]
    for number in range(count):
        last = records[-1]
        views: dict[str, Published] = dict(last.views)
        advances = chance.random() < 0.8
        if advances:
            views = {name: one.advanced(number) for name, one in views.items()}
        for name in chance.sample(sorted(views), min(2, len(views))):
            views[name] = replace(
                views[name],
                sequence=views[name].sequence + chance.randrange(4),
                complete=chance.choice([None, number]),
                failed=chance.choice([None, None, "why"]),
            )
        if views and chance.random() < 0.2:
            del views[chance.choice(sorted(views))]
        if chance.random() < 0.2:
            views[f"new {number}"] = view(f"new {number}", chance.choice([0, 2]))
        in_full = chance.random() < 0.02
        records.append(last.next(views, advances=advances, in_full=in_full, time=number))
    return records


def test_a_record_is_small_if_views_only_complete_the_time() -> None:
    first = begun()
    assert len(first.encode()) > 30_000
    assert len(after(first).encode()) < 400
    assert len(after(first, "view 3", "view 5").encode()) < 500


def test_full_records_come_now_and_then() -> None:
    records = [begun()]
    for _ in range(10 * FULL_EVERY):
        records.append(after(records[-1]))
    assert sum(record.changes is None for record in records) == 11
    assert sum(len(record.encode()) for record in records) / len(records) < 1_000


@pytest.mark.parametrize("seed", range(20))
def test_what_is_read_is_what_was_written(seed: int) -> None:
    chance = random.Random(seed)
    records = at_random(begun(5), 3 * FULL_EVERY, chance)
    for end in (1, 2, FULL_EVERY, FULL_EVERY + 1, len(records)):
        assert read(written(records[:end])) == records[end - 1]


@pytest.mark.parametrize("seed", range(20))
def test_compaction_leaves_what_a_start_needs(seed: int) -> None:
    chance = random.Random(seed)
    records = list(written(at_random(begun(5), 3 * FULL_EVERY, chance)))
    last = read(records)
    cut = chance.randrange(len(records))
    assert read([*compacted(records[:cut]), *records[cut:]]) == last
    assert read(compacted(records)) == last


def test_a_tail_that_begins_amid_changes_is_whole_from_the_next_full_record_on() -> None:
    records = list(written(at_random(begun(5), 2 * FULL_EVERY, random.Random(1))))
    tail = read(records[FULL_EVERY // 2 :])
    assert tail == read(records)


def test_a_record_is_missed() -> None:
    records = list(written([first := begun(5), second := after(first), after(second)]))
    found = read([records[0], records[2]])
    assert found is not None
    assert not found.is_whole


@pytest.mark.parametrize("name", ["main2", "mai", "main\0x", "main\0"])
def test_the_key_of_another_connection_is_none_of_ours(name: str) -> None:
    assert not is_key(name.encode(), "main")


def test_a_copy_of_changes_is_refused() -> None:
    first = begun(5)
    second = after(first)
    copied = [first, second, after(second), second]
    with pytest.raises(SinkDiverged, match="does not follow"):
        read(written(copied))


def test_members_of_a_view_can_be_unset() -> None:
    lagging = begun(1).next({"view 0": replace(view("topic 0"), complete=3, failed="why")})
    mended = lagging.next({"view 0": view("topic 0")})
    records: Mapping[str, Progress] = {"first": begun(1), "lagging": lagging, "mended": mended}
    assert read(written(records.values())) == mended
