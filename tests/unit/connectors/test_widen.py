"""Records from before an addition are read as they were then, however they are cut."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import orjson
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from connectors.decode import decode
from connectors.records import Records
from connectors.tables.spec import TableSpec
from connectors.tables.widen import altered as altered_by
from connectors.tables.widen import since
from tests.unit.connectors.writers import kafka

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("at", pa.timestamp("us")),
    pa.field("note", pa.string()),
    pa.field("rank", pa.int64()),
]
DOUBTFUL = 1_700_000_000_000


def table(count: int, **fields: Any) -> TableSpec:
    return kafka(pa.schema(FIELDS[:count]), envelope="flat", **fields)


def altered() -> TableSpec:
    """A table that got a column at offset 3, and a unit and another column at offset 6."""
    first = table(2)
    second = since(first, table(3), {first.topic: {0: 3, 1: 8}})
    found = altered_by(second, table(4, encodings={"at": "us"}))
    assert found is not None
    return since(second, found, {second.topic: {0: 6, 1: 8}})


def records(partition: int, first: int, end: int) -> Records:
    values = [{"id": n, "at": DOUBTFUL, "note": f"{n}", "rank": n} for n in range(first, end)]
    return Records(list(map(orjson.dumps, values)), range(first, end), partition)


@given(st.sets(st.integers(1, 9)).map(sorted))
def test_additions_hold_from_their_offsets_on(cuts: list[int]) -> None:
    rows, rejected = [], []
    for first, end in pairwise([0, *cuts, 10]):
        decoded = decode(records(0, first, end), altered())
        assert decoded.rows.schema == altered().schema
        rows += [(row["id"], row["note"], row["rank"]) for row in decoded.rows.to_pylist()]
        rejected += [record.offset for record in decoded.rejected]
    assert rejected == [0, 1, 2, 3, 4, 5]
    assert rows == [(n, f"{n}", n) for n in range(6, 10)]


def test_what_was_added_is_null_before() -> None:
    spec = replace(altered(), encodings={"at": "us"})
    values = [b'{"id": %d, "note": "x", "rank": 1}' % n for n in range(10)]
    decoded = decode(Records(values, range(10), 0), spec)
    rows = [(row["note"], row["rank"]) for row in decoded.rows.to_pylist()]
    assert rows == [(None, None)] * 3 + [("x", None)] * 3 + [("x", 1)] * 4


def test_partitions_have_offsets_of_their_own() -> None:
    values = [b'{"id": 1, "note": "x", "rank": 1}'] * 4
    for partition, notes in ((1, [None, None, "x", "x"]), (2, ["x"] * 4)):
        decoded = decode(Records(values, range(6, 10), partition), altered())
        assert decoded.rows["note"].to_pylist() == notes


def test_a_table_that_was_altered_travels_as_json() -> None:
    spec = altered()
    assert TableSpec.from_json(orjson.loads(orjson.dumps(spec.to_json()))) == spec
