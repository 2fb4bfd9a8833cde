"""Looking many keys up at once finds what peeking at each of them finds."""

import string
from collections import Counter
from decimal import Decimal
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given

from ivm.dataflow.nodes import Arrange, Get, Join
from ivm.errors import NotIndexed, SchemaMismatch
from ivm.pool import Pool
from ivm.results import Found

FIELDS: list[pa.Field] = [
    pa.field("value", pa.int64()),
    pa.field("name", pa.string()),
    pa.field("amount", pa.decimal128(20, 2)),
    pa.field("id", pa.int32(), nullable=False),
]
SCHEMA = pa.schema(FIELDS)
KEYS = (["id"], ["name"], ["amount"], ["name", "id"], ["id", "amount", "name"])

names = st.none() | st.sampled_from(["", "b", "seven b", "eight by", "a longer name", "a longer n"])
amounts = st.none() | st.sampled_from([Decimal("0.10"), Decimal("-7.25"), Decimal(10) ** 17])
rows = st.tuples(st.integers(-9, 9) | st.none(), names, amounts, st.integers(0, 4))
changes = st.lists(st.tuples(rows, st.integers(-1, 2)), max_size=20)


def batch(given_rows: list[tuple[Any, ...]]) -> pa.RecordBatch:
    """These rows, as the table has them."""
    columns = zip(*given_rows, strict=True) if given_rows else [[] for _ in SCHEMA]
    arrays = [pa.array(c, f.type) for c, f in zip(columns, SCHEMA, strict=True)]
    return pa.RecordBatch.from_arrays(arrays, schema=SCHEMA)


def by_key(found: Found, count: int) -> list[Counter[tuple[Any, ...]]]:
    """The rows of each of `count` keys, from its group."""
    groups: list[Counter[tuple[Any, ...]]] = [Counter() for _ in found.starts[1:]]
    for row, n, owner in zip(found.rows.to_pylist(), found.counts, found.owners, strict=True):
        groups[owner][tuple(row.values())] += n
    result: list[Counter[tuple[Any, ...]]] = [Counter() for _ in range(count)]
    for g, group in enumerate(groups):
        for position in found.order[found.starts[g] : found.starts[g + 1]]:
            result[position] = group
    return result


def peeked(pool: Pool, key: dict[str, object]) -> Counter[tuple[Any, ...]]:
    """The rows that `peek` finds."""
    found = pool.peek("t", key)
    pairs = zip(found.rows.to_pylist(), found.counts.tolist(), strict=True)
    return Counter({tuple(row.values()): n for row, n in pairs})


@given(
    st.sampled_from(KEYS),
    st.sampled_from([1, 2, 3]),
    st.lists(changes, max_size=5),
    st.lists(rows, max_size=12),
)
def test_each_key_has_the_rows_that_a_peek_finds(
    key: list[str], workers: int, times: list[list[Any]], sought: list[tuple[Any, ...]]
) -> None:
    pool = Pool(workers)
    pool.create_input("t", SCHEMA, key)
    for time, updates in enumerate(times):
        diffs = np.array([diff for _, diff in updates], np.int64)
        pool.feed("t", batch([row for row, _ in updates]), diffs, time)
        pool.advance(time + 1)
    keys = batch(sought).select(key)
    found = pool.look_up("t", keys)
    expected = [peeked(pool, row) for row in keys.to_pylist()]
    assert by_key(found, len(sought)) == expected
    assert sorted(found.order.tolist()) == list(range(len(sought)))
    assert np.all(np.diff(found.owners) >= 0)


@pytest.mark.parametrize("workers", [1, 2])
def test_many_keys_are_found_in_large_batches_of_strings(workers: int) -> None:
    pool = Pool(workers)
    fields: list[pa.Field] = [pa.field("id", pa.string()), pa.field("n", pa.int64())]
    schema = pa.schema(fields)
    pool.create_input("t", schema, ["id"])
    rng = np.random.default_rng(5)
    ids = ["".join(rng.choice(list(string.ascii_lowercase), 3 + i % 9)) for i in range(20_000)]
    numbers = dict(zip(ids, range(20_000), strict=True))
    table = pa.RecordBatch.from_pydict(
        {"id": list(numbers), "n": list(numbers.values())}, schema=schema
    )
    for time, start in enumerate(range(0, len(numbers), 6000)):
        part = table.slice(start, 6000)
        pool.feed("t", part, np.ones(part.num_rows, np.int64), time)
        pool.advance(time + 1)
    sought = [*list(numbers)[::3], "absent", "", "absent", *list(numbers)[::5]]
    found = pool.look_up(
        "t",
        pa.RecordBatch.from_pydict({"id": sought}, schema=pa.schema([schema.field("id")])),
    )
    expected = [Counter({(s, numbers[s]): 1} if s in numbers else {}) for s in sought]
    assert by_key(found, len(sought)) == expected


def test_keys_of_another_arrangement_and_their_order_are_free() -> None:
    pool = Pool()
    pool.create_input("t", SCHEMA, ["id", "name"])
    pool.feed("t", batch([(1, "a", None, 2), (3, "b", None, 2)]), np.ones(2, np.int64), 0)
    pool.advance(1)
    both = batch([(0, "b", None, 2)]).select(["name", "id"])
    assert by_key(pool.look_up("t", both), 1) == [Counter({(3, "b", None, 2): 1})]
    with pytest.raises(NotIndexed, match=r"\(value\), but by \(id, name\)"):
        pool.look_up("t", batch([]).select(["value"]))
    t = Get("t", SCHEMA)
    pool.install("v", Join(Arrange(t, (0,)), Arrange(t, (0,)), (("id", 3),)), ["id"])
    value = batch([(3, None, None, 0)]).select(["value"])
    assert by_key(pool.look_up("t", value), 1) == [Counter({(3, "b", None, 2): 1})]


def test_keys_of_another_type_are_refused() -> None:
    pool = Pool()
    pool.create_input("t", SCHEMA, ["id"])
    with pytest.raises(SchemaMismatch, match="id"):
        pool.look_up("t", pa.RecordBatch.from_pydict({"id": ["one"]}))
