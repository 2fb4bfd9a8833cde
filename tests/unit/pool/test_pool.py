"""The pool's face: names, times and schemas that it refuses, what is shared, what is freed."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Get,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    TopK,
    Union,
    columns,
    project,
)
from ivm.errors import (
    DuplicateName,
    InUse,
    NoFixedPoint,
    NotIndexed,
    SchemaMismatch,
    TimeInPast,
    UnknownCollection,
)
from ivm.pool import Pool

INT = pa.int64()
ORDERS = pa.schema(
    [
        pa.field("id", INT, nullable=False),
        pa.field("customer", INT, nullable=False),
        pa.field("amount", INT),
    ]
)
orders = Get("orders", ORDERS)
by_customer = Reduce(orders, (1,), (Aggregate("sum", 2, "total", pa.decimal128(38, 0), True),))
pairs = Join(Arrange(orders, (1,)), Arrange(orders, (1,)), (("a", 1), ("b", 3)))


def batch(rows: Sequence[tuple[Any, ...]]) -> pa.RecordBatch:
    """Rows of `orders`."""
    return pa.RecordBatch.from_pylist(
        [dict(zip(ORDERS.names, row, strict=True)) for row in rows], schema=ORDERS
    )


def feed(pool: Pool, rows: Sequence[tuple[Any, ...]], time: int, diff: int = 1) -> None:
    """Queue `diff` copies of each of these orders."""
    pool.feed("orders", batch(rows), np.full(len(rows), diff, np.int64), time)


@pytest.fixture
def pool() -> Pool:
    """Three orders of two customers, complete up to time 0."""
    pool = Pool()
    pool.create_input("orders", ORDERS, ["id"])
    feed(pool, [(1, 10, 5), (2, 10, 7), (3, 20, None)], 0)
    pool.advance(1)
    return pool


def rows(pool: Pool, name: str, **key: object) -> list[tuple[Any, ...]]:
    """What a look-up finds, as tuples."""
    found = pool.peek(name, key) if key else pool.scan(name)
    return [tuple(row.values()) for row in found.rows.to_pylist()]


def test_a_look_up_sees_the_last_completed_time(pool: Pool) -> None:
    feed(pool, [(4, 20, 1)], 1)
    assert pool.peek("orders", {"id": 4}).rows.num_rows == 0
    pool.advance(2)
    found = pool.peek("orders", {"id": 4})
    assert (found.time, found.rows.to_pylist()[0]["amount"]) == (1, 1)


def test_a_look_up_uses_any_arrangement_of_the_collection(pool: Pool) -> None:
    pool.install("pairs", pairs, ["a", "b"])
    assert rows(pool, "orders", customer=10) == [(1, 10, 5), (2, 10, 7)]


def test_a_look_up_by_other_columns_names_the_keys_there_are(pool: Pool) -> None:
    with pytest.raises(NotIndexed, match=r"\(amount\), but by \(id\)"):
        pool.peek("orders", {"amount": 5})


def test_a_look_up_value_of_another_type_is_refused(pool: Pool) -> None:
    with pytest.raises(SchemaMismatch, match="id"):
        pool.peek("orders", {"id": "one"})


def test_a_time_behind_the_frontier_is_refused_and_changes_nothing(pool: Pool) -> None:
    with pytest.raises(TimeInPast, match="'orders' is behind the frontier 1"):
        feed(pool, [(4, 20, 1)], 0)
    with pytest.raises(TimeInPast):
        pool.advance(0)
    pool.advance(2)
    assert len(rows(pool, "orders")) == 3


def test_updates_beyond_the_frontier_wait_for_it(pool: Pool) -> None:
    feed(pool, [(4, 20, 1)], 7)
    pool.advance(7)
    assert len(rows(pool, "orders")) == 3
    pool.advance(8)
    assert len(rows(pool, "orders")) == 4


def test_a_batch_with_a_wrong_column_is_refused_and_changes_nothing(pool: Pool) -> None:
    wrong = pa.RecordBatch.from_pylist([{"id": 4, "customer": "ten", "amount": 1}])
    with pytest.raises(SchemaMismatch, match="customer"):
        pool.feed("orders", wrong, np.ones(1, np.int64), 1)
    pool.advance(2)
    assert len(rows(pool, "orders")) == 3


def test_as_many_diffs_as_rows_are_needed(pool: Pool) -> None:
    with pytest.raises(SchemaMismatch, match="1 rows, but 2 diffs"):
        pool.feed("orders", batch([(4, 20, 1)]), np.ones(2, np.int64), 1)


def test_unknown_and_duplicate_names_are_refused(pool: Pool) -> None:
    pool.install("totals", by_customer, ["customer"])
    with pytest.raises(DuplicateName):
        pool.install("totals", by_customer, ["customer"])
    with pytest.raises(DuplicateName):
        pool.create_input("orders", ORDERS, ["id"])
    for call in (lambda: pool.drain("orders"), lambda: pool.drop("nothing")):
        with pytest.raises(UnknownCollection):
            call()
    with pytest.raises(UnknownCollection, match="'nothing'"):
        pool.install("new", Get("nothing", ORDERS), ["id"])


def test_a_key_that_is_no_column_is_refused(pool: Pool) -> None:
    with pytest.raises(SchemaMismatch, match="'color'"):
        pool.install("totals", by_customer, ["color"])


def test_dataflows_share_arrangements(pool: Pool) -> None:
    first = pool.install("pairs", pairs, ["a", "b"])
    assert "orders[customer]" in first.created
    counted = Reduce(pairs, (0,), (Aggregate("count", None, "n", INT, False),))
    second = pool.install("counts", counted, ["a"])
    assert second.reused == ("orders[customer]",)
    assert second.created == ("counts[a]",)
    users = {info.name: info.users for info in pool.arrangements()}
    assert users["orders[customer]"] == ("pairs", "counts")


def test_explain_tells_what_an_installation_would_do(pool: Pool) -> None:
    before = pool.explain(pairs, ["a", "b"])
    assert before.created.count("orders[customer]") == 1
    pool.install("pairs", pairs, ["a", "b"])
    assert pool.explain(pairs, ["a", "b"]).created == ()


def test_an_identical_dataflow_makes_no_arrangement(pool: Pool) -> None:
    pool.install("one", by_customer, ["customer"])
    assert pool.install("two", by_customer, ["customer"]).created == ()
    pool.drop("one")
    feed(pool, [(4, 20, 9)], 1)
    pool.advance(2)
    assert sorted(rows(pool, "two")) == [(10, 12), (20, 9)]


def test_dropping_the_last_user_frees_an_arrangement(pool: Pool) -> None:
    pool.install("pairs", pairs, ["a", "b"])
    pool.install("counts", project(pairs, (0,)), ["a"])
    pool.drop("pairs")
    assert "orders[customer]" in {info.name for info in pool.arrangements()}
    pool.drop("counts")
    assert {info.name for info in pool.arrangements()} == {"orders[id]"}


def test_what_is_read_cannot_be_dropped(pool: Pool) -> None:
    pool.install("totals", by_customer, ["customer"])
    pool.install("over", Get("totals", by_customer.schema), ["customer"])
    with pytest.raises(InUse, match="over"):
        pool.drop("totals")
    with pytest.raises(InUse, match="totals"):
        pool.drop_input("orders")
    pool.drop("over")
    pool.drop("totals")
    pool.drop_input("orders")
    assert pool.arrangements() == []


def test_a_dataflow_over_a_dataflow_follows_it(pool: Pool) -> None:
    pool.install("totals", by_customer, ["customer"])
    pool.install("over", project(Get("totals", by_customer.schema), (1, 0)), ["customer"])
    feed(pool, [(4, 20, 9)], 1)
    pool.advance(2)
    assert sorted(rows(pool, "over")) == [(9, 20), (12, 10)]


def _doubling(max_rounds: int | None = None) -> Node:
    """Ids that grow without end."""
    schema = pa.schema([pa.field("n", INT, nullable=False)])
    (n,) = columns(Recursive("x", schema))
    more = Map(Recursive("x", schema), (("n", Call("add", (n, Literal(1, INT)), INT, False)),))
    return Iterate((("x", Union((project(orders, (0,)), more))),), "x", max_rounds)


def test_recursion_without_an_end_is_refused_when_it_is_installed(pool: Pool) -> None:
    with pytest.raises(NoFixedPoint, match="endless"):
        pool.install("endless", _doubling(100), ["id"])
    with pytest.raises(UnknownCollection):
        pool.scan("endless")


def test_recursion_that_stops_converging_is_dropped_and_the_others_go_on() -> None:
    pool = Pool(max_rounds=50)
    pool.create_input("orders", ORDERS, ["id"])
    pool.install("endless", _doubling(), ["id"])
    pool.install("totals", by_customer, ["customer"])
    feed(pool, [(1, 10, 5)], 0)
    with pytest.raises(NoFixedPoint, match="endless"):
        pool.advance(1)
    assert len(rows(pool, "totals")) == 1
    feed(pool, [(2, 20, 5)], 1)
    pool.advance(2)
    assert len(rows(pool, "totals")) == 2


def _branching() -> Node:
    """A number n has n + n and n + n + 1 in the next round."""
    schema = pa.schema([pa.field("n", INT, nullable=False)])
    x = Recursive("x", schema)
    (n,) = columns(x)
    double = Call("add", (n, n), INT, False)
    next_one = Call("add", (double, Literal(1, INT)), INT, False)
    both = [Map(x, (("n", number),)) for number in (double, next_one)]
    return Iterate((("x", Union((project(orders, (0,)), *both))),), "x")


def test_recursion_that_grows_faster_than_by_rounds_is_dropped_for_its_updates() -> None:
    pool = Pool(max_updates=100_000)
    pool.create_input("orders", ORDERS, ["id"])
    pool.install("endless", _branching(), ["id"])
    pool.install("totals", by_customer, ["customer"])
    feed(pool, [(1, 10, 5)], 0)
    with pytest.raises(NoFixedPoint, match=r"endless: no fixed point .* 100,000 updates"):
        pool.advance(1)
    assert len(rows(pool, "totals")) == 1
    with pytest.raises(NoFixedPoint, match=r"again: no fixed point .* 100,000 updates"):
        pool.install("again", _branching(), ["id"])


def test_updates_of_one_step_are_not_counted_in_the_next() -> None:
    pool = Pool(max_updates=1_000)
    pool.create_input("orders", ORDERS, ["id"])
    x = Recursive("x", ORDERS)
    pool.install("once", Iterate((("x", Distinct(Union((orders, x)))),), "x"), ["id"])
    for time in range(100):
        feed(pool, [(i, 10, time) for i in range(30)], time)
        pool.advance(time + 1)
    assert len(rows(pool, "once")) == 3_000


def test_a_loop_counts_the_updates_of_those_within_it() -> None:
    pool = Pool(max_updates=100_000)
    pool.create_input("orders", ORDERS, ["id"])
    schema = pa.schema([pa.field("n", INT, nullable=False)])
    y = Recursive("y", schema)
    outer = Iterate((("y", Distinct(Union((_branching(), y)))),), "y")
    pool.install("endless", outer, ["id"])
    feed(pool, [(1, 10, 5)], 0)
    with pytest.raises(NoFixedPoint, match="endless"):
        pool.advance(1)


def test_times_after_one_without_a_fixed_point_are_complete_as_well() -> None:
    pool = Pool(max_rounds=50)
    pool.create_input("orders", ORDERS, ["id"])
    pool.install("endless", _doubling(), ["id"])
    pool.install("totals", by_customer, ["customer"])
    feed(pool, [(1, 10, 5)], 0)
    feed(pool, [(2, 20, 5)], 500)  # more times than one step of a recursive pool has
    for time in range(1, 100):
        feed(pool, [(2 + time, 30, 5)], time)
    with pytest.raises(NoFixedPoint, match="endless"):
        pool.advance(501)
    assert pool.frontier == 501
    assert len(rows(pool, "totals")) == 3


def test_errors_are_retracted_with_their_rows(pool: Pool) -> None:
    _, _, amount = columns(orders)
    inverse = Map(orders, (("inverse", Call("divide", (Literal(1, INT), amount), INT, True)),))
    pool.install("inverse", inverse, [])
    feed(pool, [(4, 20, 0)], 1)
    pool.advance(2)
    deltas = pool.drain("inverse")
    assert "division by zero" in deltas.errors.column(0)[0].as_py()
    assert pool.scan("inverse").errors == 1
    feed(pool, [(4, 20, 0)], 2, diff=-1)
    pool.advance(3)
    assert pool.drain("inverse").error_diffs.tolist() == [-1]
    assert pool.scan("inverse").errors == 0


def test_a_dataflow_over_one_with_errors_has_them_too(pool: Pool) -> None:
    _, _, amount = columns(orders)
    inverse = Map(orders, (("inverse", Call("divide", (Literal(1, INT), amount), INT, True)),))
    feed(pool, [(4, 20, 0)], 1)
    pool.advance(2)
    pool.install("inverse", inverse, [])
    pool.install("over", Get("inverse", inverse.schema), [])
    assert pool.drain("over").error_diffs.tolist() == [1]


def test_strings_that_came_and_went_give_their_memory_back() -> None:
    fields: list[pa.Field[Any]] = [
        pa.field("id", INT, nullable=False),
        pa.field("text", pa.string()),
    ]
    schema = pa.schema(fields)
    pool = Pool()
    pool.create_input("texts", schema, ["id"])
    texts = Get("texts", schema)
    longest = TopK(texts, (), (Order(1, descending=True),), 3)
    pool.install("last", longest, ["id"])
    count, held = 20_000, []
    before: pa.RecordBatch | None = None
    for time in range(40):
        names = [
            f"a text of more than seven bytes, number {time * count + i:09d}" for i in range(count)
        ]
        rows = pa.RecordBatch.from_arrays([pa.array(range(count)), pa.array(names)], schema=schema)
        if before is not None:
            pool.feed("texts", before, np.full(count, -1, np.int64), time)
        pool.feed("texts", rows, np.ones(count, np.int64), time)
        pool.advance(time + 1)
        pool.drain("last")
        before = rows
        held.append(pool.string_bytes)
    assert max(held[20:]) <= 1.01 * max(held[:20]) < 20 << 20
    assert pool.scan("last").rows.column("text").to_pylist() == sorted(names)[-3:]


@pytest.mark.parametrize("how", ["one by one", "many at once"])
def test_keys_that_are_looked_for_do_not_stay_where_no_step_happens(how: str) -> None:
    fields: list[pa.Field] = [pa.field("text", pa.string(), nullable=False)]
    schema = pa.schema(fields)
    pool = Pool()
    pool.create_input("texts", schema, ["text"])
    kept = pa.RecordBatch.from_pydict({"text": [f"kept for good, {i}" for i in range(9)]}, schema)
    pool.feed("texts", kept, np.ones(9, np.int64), 0)
    pool.advance(1)
    for first in range(0, 100_000, 1_000):
        sought = [f"{i:01000}" for i in range(first, first + 1_000)]
        if how == "one by one":
            found = sum(pool.peek("texts", {"text": text}).rows.num_rows for text in sought)
        else:
            keys = pa.RecordBatch.from_pydict({"text": sought}, schema)
            found = pool.look_up("texts", keys).rows.num_rows
        assert found == 0
        assert pool.string_bytes < 20 << 20
    assert pool.look_up("texts", kept).rows.num_rows == 9
