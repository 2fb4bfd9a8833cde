"""Changes by key leave the rows that a dict of them has, at every time and however they are cut."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
from hypothesis import given

from connectors.ingest.upsert import Changes, Folded, fold
from ivm.dataflow.nodes import Get
from ivm.pool import Pool

FIELDS: list[pa.Field] = [
    pa.field("name", pa.string()),
    pa.field("id", pa.int64(), nullable=False),
    pa.field("amount", pa.decimal128(12, 2), nullable=False),
    pa.field("tags", pa.list_(pa.int64())),
    pa.field("part", pa.string()),
]
SCHEMA = pa.schema(FIELDS)
KEY = ("id", "part")
REST = (0, 2, 3)  # the columns that are not in the key

Row = tuple[Any, ...]


@dataclass(frozen=True)
class Change:
    """A set (1) or delete (-1) of a key, or a truncation (0), and what a set leaves out."""

    kind: int
    row: Row
    missing: tuple[int, ...]
    steps: int  # by which the time has moved since the change before


@dataclass
class Oracle:
    """The rows by key, changed one by one."""

    rows: dict[Row, Row] = field(default_factory=dict)
    absent: int = 0
    unavailable: list[int] = field(default_factory=list)

    def apply(self, index: int, change: Change) -> None:
        key = (change.row[1], change.row[4])
        before = self.rows.get(key)
        if change.kind == 0:
            self.rows.clear()
        elif change.kind == -1:
            self.absent += before is None
            self.rows.pop(key, None)
        elif change.missing and before is None:
            self.unavailable.append(index)
        else:
            row = list(change.row)
            for column in change.missing:
                assert before is not None
                row[column] = before[column]
            self.rows[key] = tuple(row)


names = st.none() | st.sampled_from(["", "b", "a name of many bytes", "another long name"])
rows = st.tuples(
    names,
    st.integers(0, 2),
    st.sampled_from([Decimal("0.10"), Decimal("-7.25")]),
    st.none() | st.tuples(st.integers(0, 1)).map(list),
    st.sampled_from([None, "p", "part of many bytes"]),
)
steps = st.sampled_from([0, 0, 1, 2])
sets = st.builds(Change, st.just(1), rows, st.just(()), steps)
partial = st.builds(
    Change, st.just(1), rows, st.sets(st.sampled_from(REST), min_size=1).map(tuple), steps
)
deletes = st.builds(Change, st.just(-1), rows, st.just(()), steps)
truncations = st.builds(Change, st.just(0), rows, st.just(()), steps)
histories = st.lists(st.one_of(sets, sets, deletes, partial, truncations), max_size=25)


def shown(change: Change) -> Row:
    """The row as a decoder gives it: what does not matter is NULL."""
    kept = {1: set(range(5)) - set(change.missing), -1: {1, 4}, 0: set()}[change.kind]
    return tuple(value if i in kept else None for i, value in enumerate(change.row))


def changes(some: Sequence[tuple[int, Change]]) -> Changes:
    """These changes, each with its time."""
    columns = zip(*(shown(c) for _, c in some), strict=True) if some else [[] for _ in SCHEMA]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    missing = [c.missing or None for _, c in some]
    return Changes(
        pa.RecordBatch.from_arrays(arrays, schema=SCHEMA),
        np.array([c.kind for _, c in some], np.int64),
        np.array([time for time, _ in some], np.uint64),
        pa.array(missing, pa.list_(pa.int16())) if any(missing) else None,
    )


def hashable(row: dict[str, Any]) -> Row:
    """A row of a batch, to count."""
    return tuple(repr(value) for value in row.values())


def feed(pool: Pool, folded: Folded) -> None:
    for part in folded.updates:
        pool.feed("t", part.rows, part.diffs, part.times)


def history_of(pool: Pool) -> dict[int, Counter[Row]]:
    """What the view that copies the table changed by, at each time."""
    deltas = pool.drain("v")
    found: dict[int, Counter[Row]] = {}
    for row, time, diff in zip(deltas.rows.to_pylist(), deltas.times, deltas.diffs, strict=True):
        found.setdefault(int(time), Counter())[hashable(row)] += int(diff)
    return found


@given(histories, st.lists(st.integers(0, 25), max_size=4), st.sampled_from([1, 2]))
def test_every_time_has_the_rows_of_a_dict(
    history: list[Change], cuts: list[int], workers: int
) -> None:
    pool = Pool(workers)
    pool.create_input("t", SCHEMA, KEY)
    pool.install("v", Get("t", SCHEMA), KEY)
    oracle = Oracle()
    expected: dict[int, Counter[Row]] = {}
    timed, time = [], 1
    for index, change in enumerate(history):
        time += change.steps
        timed.append((time, change))
        oracle.apply(index, change)
        rows = [dict(zip(SCHEMA.names, row, strict=True)) for row in oracle.rows.values()]
        expected[time] = Counter(map(hashable, rows))
    absent, unavailable = 0, []
    # A batch ends where a time does: its changes are completed together.
    ends = sorted({c for c in cuts if 0 < c < len(timed) and timed[c][0] > timed[c - 1][0]})
    for begin, end in zip([0, *ends], [*ends, len(timed)], strict=True):
        folded = fold("t", KEY, changes(timed[begin:end]), pool)
        feed(pool, folded)
        if end:
            pool.advance(timed[end - 1][0] + 1)
        absent += folded.absent
        unavailable += (folded.unavailable + begin).tolist()
    assert (absent, unavailable) == (oracle.absent, oracle.unavailable)
    present: Counter[Row] = Counter()
    found = history_of(pool)
    assert found.keys() <= expected.keys()
    for at, wanted in expected.items():
        present.update(found.get(at, Counter()))
        assert +present == wanted, at
        assert not -present


@given(histories, st.integers(0, 25), st.sampled_from([1, 2]))
def test_a_tail_that_comes_twice_ends_where_it_was(
    history: list[Change], begin: int, workers: int
) -> None:
    pool = Pool(workers)
    pool.create_input("t", SCHEMA, KEY)
    oracle = Oracle()
    again = [*history, *history[begin:]]
    for index, change in enumerate(again):
        oracle.apply(index, change)
    for time, some in ((1, again[: len(history)]), (2, again[len(history) :])):
        feed(pool, fold("t", KEY, changes([(time, change) for change in some]), pool))
        pool.advance(time + 1)
    rows = [dict(zip(SCHEMA.names, row, strict=True)) for row in oracle.rows.values()]
    assert Counter(map(hashable, pool.scan("t").rows.to_pylist())) == Counter(map(hashable, rows))


@given(histories)
def test_partitions_one_after_another_are_the_same_as_in_the_order_of_times(
    history: list[Change],
) -> None:
    pool = Pool()
    pool.create_input("t", SCHEMA, KEY)
    timed, time = [], 1
    for change in (c for c in history if c.kind):
        time += change.steps
        timed.append((time, change))
    parts = [[one for one in timed if one[1].row[1] % 2 == side] for side in (0, 1)]
    feed(pool, fold("t", KEY, changes([*parts[0], *parts[1]]), pool))
    pool.advance(time + 1)
    oracle = Oracle()
    for index, (_, change) in enumerate(timed):
        oracle.apply(index, change)
    rows = [dict(zip(SCHEMA.names, row, strict=True)) for row in oracle.rows.values()]
    assert Counter(map(hashable, pool.scan("t").rows.to_pylist())) == Counter(map(hashable, rows))
