"""Columns of structs: fed, read, looked up, grouped, joined and ordered by like any other."""

from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.combinators import reduce
from ivm.dataflow.nodes import Arrange, Get, Iterate, Join, Node, Recursive, Reduce, Threshold, TopK
from ivm.errors import SchemaMismatch
from ivm.pool import Pool

INT = pa.int64()
PLACE = pa.struct([pa.field("town", pa.string()), pa.field("number", INT, nullable=False)])
FIELDS: list[pa.Field] = [pa.field("id", INT, nullable=False), pa.field("place", PLACE)]
ROWS = pa.schema(FIELDS)
rows = Get("rows", ROWS)
LYON, PARIS = {"town": "Lyon, by its river", "number": 3}, {"town": "Paris", "number": 1}
NOWHERE = {"town": None, "number": 1}
PLACES: list[dict[str, Any] | None] = [LYON, PARIS, LYON, NOWHERE, None]


@pytest.fixture(params=[1, 2])
def pool(request: pytest.FixtureRequest) -> Pool:
    pool = Pool(request.param)
    pool.create_input("rows", ROWS, ["id"])
    return pool


def feed(pool: Pool, places: list[dict[str, Any] | None], diff: int = 1) -> None:
    batch = pa.RecordBatch.from_pylist(
        [{"id": i, "place": place} for i, place in enumerate(places)], schema=ROWS
    )
    pool.feed("rows", batch, np.full(len(places), diff, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)


def answer(pool: Pool, node: Node, key: list[str]) -> list[dict[str, Any]]:
    pool.install("out", node, key)
    return pool.scan("out").rows.to_pylist()


def test_rows_come_back_as_they_were_and_go_as_they_came(pool: Pool) -> None:
    feed(pool, PLACES)
    found = pool.scan("rows").rows
    assert (found.schema, found.column("place").to_pylist()) == (ROWS, PLACES)
    feed(pool, PLACES, diff=-1)
    assert pool.scan("rows").rows.num_rows == 0


def test_a_struct_is_a_key_to_group_and_to_look_up_by(pool: Pool) -> None:
    feed(pool, PLACES)
    count = Aggregate("count", None, "n", INT, nullable=False)
    pool.install("counts", Reduce(rows, (1,), (count,)), ["place"])
    assert pool.peek("counts", {"place": LYON}).rows.column("n").to_pylist() == [2]
    assert pool.peek("counts", {"place": None}).rows.column("n").to_pylist() == [1]
    keys = pa.RecordBatch.from_arrays([pa.array([NOWHERE, PARIS], PLACE)], ["place"])
    assert pool.look_up("counts", keys).rows.column("n").to_pylist() == [1, 1]


@pytest.mark.parametrize(
    "other",
    [{"town": "Paris"}, {**PARIS, "street": 1}, {"town": 1, "number": 1}, {**PARIS, "number": 1.5}],
)
def test_a_struct_of_other_fields_is_refused(pool: Pool, other: dict[str, Any]) -> None:
    count = Aggregate("count", None, "n", INT, nullable=False)
    pool.install("counts", Reduce(rows, (1,), (count,)), ["place"])
    with pytest.raises(SchemaMismatch, match="place"):
        pool.peek("counts", {"place": other})


def test_structs_join_by_all_their_fields(pool: Pool) -> None:
    feed(pool, PLACES)
    same = Join(Arrange(rows, (1,)), Arrange(rows, (1,)), (("a", 1), ("b", 2)))
    pairs = {(row["a"], row["b"]) for row in answer(pool, same, ["a"])}
    assert {(0, 0), (0, 2), (2, 0), (2, 2), (1, 1), (3, 3)} <= pairs
    assert not {(0, 1), (1, 3), (3, 1)} & pairs


def test_structs_are_ordered_by_one_field_after_another_with_null_last(pool: Pool) -> None:
    feed(pool, PLACES)
    first = Aggregate("min", 1, "first", PLACE, nullable=True)
    last = Aggregate("max", 1, "last", PLACE, nullable=True)
    ends = answer(pool, reduce(rows, (), (first, last)), [])
    assert ends == [{"first": LYON, "last": NOWHERE}]
    pool.install("two", TopK(rows, (), (Order(1), Order(0)), 2), [])
    assert pool.scan("two").rows.column("id").to_pylist() == [0, 2]


def test_structs_go_through_a_recursion(pool: Pool) -> None:
    own = Recursive("x", ROWS)
    feed(pool, PLACES)
    reached = Iterate((("x", Threshold(rows, 1)), ("y", own)), "y")
    found = answer(pool, reached, ["id"])
    assert [row["place"] for row in found] == PLACES


def test_texts_in_structs_outlive_a_release_of_strings(pool: Pool) -> None:
    feed(pool, PLACES)
    pool._core.strings.limit = 0
    pool.advance(pool.frontier + 1)
    assert pool.scan("rows").rows.column("place").to_pylist() == PLACES
