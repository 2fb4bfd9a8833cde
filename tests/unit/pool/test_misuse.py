"""Misuse of the pool's face: each case raises a typed error, and changes nothing."""

from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate, Order, WindowCall
from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Constant,
    DeltaJoin,
    Distinct,
    EnterAt,
    Filter,
    Get,
    Iterate,
    Join,
    Lookup,
    Map,
    Node,
    Path,
    Recursive,
    Reduce,
    TemporalFilter,
    Threshold,
    TopK,
    Union,
    Window,
    columns,
)
from ivm.errors import (
    DuplicateName,
    InUse,
    InvalidTime,
    IvmError,
    NotIndexed,
    SchemaMismatch,
    TimeInPast,
    UnknownCollection,
    Unsupported,
)
from ivm.pool import Pool

INT = pa.int64()
FIELDS: list[pa.Field] = [
    pa.field("id", INT, nullable=False),
    pa.field("customer", INT, nullable=False),
    pa.field("note", pa.string()),
]
ORDERS = pa.schema(FIELDS)
orders = Get("orders", ORDERS)
totals = Reduce(orders, (1,), (Aggregate("count", None, "n", INT, False),))
LEAST = Aggregate("min", 0, "least", INT, False)
FRONTIER = 3
ONE = np.ones(1, np.int64)

Misuse = Callable[[Pool], object]


def _rows(count: int = 1, **columns: pa.Array) -> pa.RecordBatch:
    """Rows of `orders`, with some columns exchanged or added."""
    good: dict[str, pa.Array] = {
        "id": pa.array(range(100, 100 + count), INT),
        "customer": pa.array([1] * count, INT),
        "note": pa.array(["a note of many bytes"] * count),
    }
    return pa.RecordBatch.from_pydict(good | columns)


def _feed(
    rows: Any = None, diffs: Any = ONE, times: Any = FRONTIER, name: Any = "orders"
) -> Misuse:
    return lambda pool: pool.feed(name, _rows() if rows is None else rows, diffs, times)


def _times(*times: Any, dtype: Any = None) -> Misuse:
    given = np.array(times, dtype)
    return _feed(_rows(len(times)), np.ones(len(times), np.int64), given)


def _input(key: Any, schema: Any = ORDERS, name: Any = "more") -> Misuse:
    return lambda pool: pool.create_input(name, schema, key)


def _install(node: Any, key: Any, name: Any = "more") -> Misuse:
    return lambda pool: pool.install(name, node, key)


def _peek(name: Any, **key: object) -> Misuse:
    return lambda pool: pool.peek(name, key)


def _peek_by(key: Any) -> Misuse:
    return lambda pool: pool.peek("orders", key)


def _look_up(keys: Any) -> Callable[[Pool], object]:
    return lambda pool: pool.look_up("orders", keys)


def _renamed(*names: str) -> pa.RecordBatch:
    return _rows().rename_columns(list(names))


WIDE: list[pa.Field] = [pa.field(f"c{i}", INT) for i in range(2_000)]
NUMBER = pa.schema([pa.field("number", INT)])
NESTED: list[pa.Field] = [pa.field("id", INT), pa.field("pairs", pa.map_(INT, INT))]

ID, CUSTOMER, NOTE = columns(orders)
BY_ID = Arrange(orders, (0,))
NEVER_NULL = Column(2, pa.string(), False)  # which `note` is not
TRUE = Literal(True, pa.bool_())
SORTED: list[pa.Field] = [pa.field(f"c{i}", INT, nullable=i < 200) for i in range(1_900)]


def _mapped(*expressions: Expression, node: Node = orders) -> Map:
    return Map(node, tuple((f"c{i}", each) for i, each in enumerate(expressions)))


def _looped(body: Node, **how: Any) -> Iterate:
    return Iterate((("x", body),), "x", **how)


def _looked_up(relation: int, key: int = 0, bound: int = 0) -> Lookup:
    return Lookup(relation, (key,), (bound,))


TO_SECOND = Path((0,), (_looked_up(1),))
TO_FIRST = Path((0,), (_looked_up(0, bound=3),))


def _delta_joined(*paths: Path, column: int = 0) -> DeltaJoin:
    """A join of two orders, which is one by their ids if `paths` are these two."""
    return DeltaJoin((orders, orders), paths, (("id", column),))


def _after_first(*lookups: Lookup, key: int = 0) -> DeltaJoin:
    """The same, but for the path from the first relation."""
    return _delta_joined(Path((key,), lookups), TO_FIRST)


UNFIT: dict[str, tuple[type[IvmError], Any]] = {
    "no node": (Unsupported, "orders"),
    "a column that there is not": (SchemaMismatch, _mapped(Column(9, INT, False))),
    "a column before the first": (SchemaMismatch, _mapped(Column(-1, INT, False))),
    "a column of another type": (SchemaMismatch, _mapped(Column(0, pa.string(), False))),
    "a function of a column that there is not": (
        SchemaMismatch,
        _mapped(Call("abs", (Column(9, INT, False),), INT, False)),
    ),
    "a function of a column of another type": (
        SchemaMismatch,
        _mapped(Call("lower", (Column(0, pa.string(), False),), pa.string(), False)),
    ),
    "an output that is no expression": (Unsupported, _mapped(totals.aggregates[0])),  # type: ignore[arg-type]
    "a condition that is a number": (SchemaMismatch, Filter(orders, ID)),
    "a constant of another type": (SchemaMismatch, Constant((("one",),), NUMBER)),
    "a constant that is too great": (SchemaMismatch, Constant(((2**70,),), NUMBER)),
    "a constant that is a list": (Unsupported, Constant((([1],),), NUMBER)),  # type: ignore[arg-type]
    "a constant that is a fraction": (SchemaMismatch, Constant(((1.5,),), NUMBER)),
    "a moment that is a fraction": (
        SchemaMismatch,
        Constant(((5.7,),), pa.schema([pa.field("at", pa.timestamp("us"))])),
    ),
    "a constant of more values than columns": (SchemaMismatch, Constant(((1, 2),), NUMBER)),
    "outputs in a list": (Unsupported, Map(orders, [("id", ID)])),  # type: ignore[arg-type]
    "a sum of nothing": (Unsupported, Union(())),
    "a sum of fewer columns": (SchemaMismatch, Union((orders, _mapped(ID)))),
    "a sum of more columns": (SchemaMismatch, Union((_mapped(ID), orders))),
    "a sum of other types": (SchemaMismatch, Union((_mapped(ID), _mapped(NOTE)))),
    "a key that is no column": (SchemaMismatch, Arrange(orders, (0, -1))),
    "a key beyond the columns": (SchemaMismatch, Arrange(orders, (3,))),
    "a key with a column twice": (SchemaMismatch, Arrange(orders, (0, 0))),
    "a join of keys of other types": (
        SchemaMismatch,
        Join(BY_ID, Arrange(orders, (2,)), (("id", 0),)),
    ),
    "a join of a longer key": (SchemaMismatch, Join(BY_ID, Arrange(orders, (0, 1)), (("id", 0),))),
    "a join's column that there is not": (SchemaMismatch, Join(BY_ID, BY_ID, (("id", -1),))),
    "a join's column beyond the last": (SchemaMismatch, Join(BY_ID, BY_ID, (("id", 5),))),
    "a delta join of other types": (
        SchemaMismatch,
        delta_join((orders, orders, orders), ((0, 3), (4, 8)), (("id", 0),)),
    ),
    "a delta join of nothing": (Unsupported, DeltaJoin((), (), ())),
    "a delta join without paths": (Unsupported, _delta_joined()),
    "a delta join of a path too few": (Unsupported, _delta_joined(TO_SECOND)),
    "a delta join of a path too many": (Unsupported, _delta_joined(TO_SECOND, TO_FIRST, TO_FIRST)),
    "a delta join's column that there is not": (
        SchemaMismatch,
        _delta_joined(TO_SECOND, TO_FIRST, column=6),
    ),
    "a path that looks nothing up": (Unsupported, _after_first()),
    "a path that looks its own relation up": (Unsupported, _after_first(_looked_up(0))),
    "a path that looks a relation up twice": (
        Unsupported,
        _after_first(_looked_up(1), _looked_up(1, key=1)),
    ),
    "a path to a relation that there is not": (Unsupported, _after_first(_looked_up(2))),
    "a path to a relation before the first": (Unsupported, _after_first(_looked_up(-1))),
    "a path by a column that there is not": (SchemaMismatch, _after_first(_looked_up(1), key=3)),
    "a look-up by a column that there is not": (SchemaMismatch, _after_first(_looked_up(1, key=3))),
    "a look-up for a column that there is not": (
        SchemaMismatch,
        _after_first(_looked_up(1, bound=6)),
    ),
    "a look-up for a column not met yet": (SchemaMismatch, _after_first(_looked_up(1, bound=3))),
    "a look-up for fewer columns": (SchemaMismatch, _after_first(Lookup(1, (0, 1), (0,)))),
    "paths that hold other columns equal": (Unsupported, _after_first(_looked_up(1, 1, 1))),
    "paths of which one holds more columns equal": (
        Unsupported,
        _after_first(Lookup(1, (0, 1), (0, 0))),
    ),
    "a reduction by a column that there is not": (SchemaMismatch, Reduce(orders, (3,), ())),
    "a reduction by a column twice": (SchemaMismatch, Reduce(orders, (1, 1), totals.aggregates)),
    "an aggregate of a column that there is not": (
        SchemaMismatch,
        Reduce(orders, (), (Aggregate("sum", 9, "a", INT, True),)),
    ),
    "an aggregate of no column": (
        SchemaMismatch,
        Reduce(orders, (), (Aggregate("first", None, "a", INT, True),)),
    ),
    "an aggregate that there is not": (
        Unsupported,
        Reduce(orders, (), (Aggregate("product", 0, "a", INT, True),)),  # type: ignore[arg-type]
    ),
    "an aggregate that there is not, beside others": (
        Unsupported,
        Reduce(orders, (), (Aggregate("product", 0, "a", INT, True), *totals.aggregates)),  # type: ignore[arg-type]
    ),
    "a list where a number is": (
        SchemaMismatch,
        Reduce(orders, (), (Aggregate("list", 0, "a", pa.list_(INT), True, where=0),)),
    ),
    "a top-k by a column that there is not": (SchemaMismatch, TopK(orders, (), (Order(9),), 1)),
    "a top-k of more columns than can be sorted": (
        Unsupported,
        TopK(Constant((), pa.schema(SORTED)), (), (), 1),
    ),
    "a top-k of fewer rows than none": (Unsupported, TopK(orders, (), (), -1)),
    "a top-k from before the first row": (Unsupported, TopK(orders, (), (), 1, -1)),
    "a threshold of no copy": (Unsupported, Threshold(orders, 0)),
    "a window by a column that there is not": (SchemaMismatch, Window(orders, (), (Order(9),), ())),
    "a window function that there is not": (
        Unsupported,
        Window(orders, (), (), (WindowCall("product", 0, "w", INT, True),)),  # type: ignore[arg-type]
    ),
    "a window's sum of no column": (
        SchemaMismatch,
        Window(orders, (), (), (WindowCall("sum", None, "w", INT, True),)),
    ),
    "moments that are not the clock's": (SchemaMismatch, TemporalFilter(orders, orders)),
    "a recursive name outside of its loop": (Unsupported, Recursive("x", ORDERS)),
    "a recursive name of other types": (
        SchemaMismatch,
        _looped(_mapped(ID, node=Recursive("x", ORDERS))),
    ),
    "a recursive name bound twice": (Unsupported, Iterate((("x", orders), ("x", orders)), "x")),
    "a recursion for a name that it does not bind": (Unsupported, Iterate((("x", orders),), "y")),
    "rows of a recursion that enter it": (
        Unsupported,
        _looped(Distinct(Union((orders, EnterAt(Recursive("x", ORDERS), ID, "x"))))),
    ),
    "a recursion of less than no rounds": (Unsupported, _looped(orders, max_rounds=-1, stops=True)),
}

CASES: dict[str, tuple[type[IvmError], Misuse]] = {
    "a time behind the frontier": (TimeInPast, _feed(times=FRONTIER - 1)),
    "one of many times behind the frontier": (TimeInPast, _times(9, FRONTIER - 1, 9)),
    "a negative time": (InvalidTime, _feed(times=-1)),
    "a negative time among others": (InvalidTime, _times(9, -1, 9)),
    "a time of 2^63": (InvalidTime, _feed(times=2**63)),
    "a time of 2^64": (InvalidTime, _feed(times=2**64)),
    "a time of 2^63 among others": (InvalidTime, _times(9, 2**63, dtype=np.uint64)),
    "a float as a time": (InvalidTime, _feed(times=5.0)),
    "floats as times": (InvalidTime, _times(5.0)),
    "NaN as a time": (InvalidTime, _times(float("nan"))),
    "a truth value as a time": (InvalidTime, _feed(times=True)),
    "truth values as times": (InvalidTime, _times(True)),
    "a string as a time": (InvalidTime, _feed(times="5")),
    "no time": (InvalidTime, _feed(times=None)),
    "a list of times": (InvalidTime, _feed(times=[5])),
    "objects as times": (InvalidTime, _times(5, dtype=object)),
    "more times than rows": (SchemaMismatch, _feed(times=np.array([5, 5], np.uint64))),
    "times in two dimensions": (SchemaMismatch, _feed(times=np.array([[5]], np.uint64))),
    "fewer diffs than rows": (SchemaMismatch, _feed(diffs=np.empty(0, np.int64))),
    "more diffs than rows": (SchemaMismatch, _feed(diffs=np.ones(2, np.int64))),
    "floats as diffs": (SchemaMismatch, _feed(diffs=np.ones(1))),
    "unsigned words as diffs": (SchemaMismatch, _feed(diffs=np.ones(1, np.uint64))),
    "strings as diffs": (SchemaMismatch, _feed(diffs=np.array(["1"]))),
    "a list as diffs": (SchemaMismatch, _feed(diffs=[1])),
    "one integer as diffs": (SchemaMismatch, _feed(diffs=1)),
    "diffs in two dimensions": (SchemaMismatch, _feed(diffs=np.ones((1, 1), np.int64))),
    "a table instead of a batch": (SchemaMismatch, _feed(pa.Table.from_batches([_rows()]))),
    "a list instead of a batch": (SchemaMismatch, _feed([{"id": 1}])),
    "a column too few": (SchemaMismatch, _feed(_rows().drop_columns(["note"]))),
    "a column too many": (SchemaMismatch, _feed(_rows(more=pa.array([1])))),
    "a column of another name": (SchemaMismatch, _feed(_renamed("id", "client", "note"))),
    "columns in another order": (SchemaMismatch, _feed(_rows().select(["customer", "id", "note"]))),
    "a column of another type": (SchemaMismatch, _feed(_rows(id=pa.array(["1"])))),
    "a narrower integer": (SchemaMismatch, _feed(_rows(id=pa.array([1], pa.int32())))),
    "NULL in a column without NULLs": (SchemaMismatch, _feed(_rows(id=pa.array([None], INT)))),
    "an input that is not there": (UnknownCollection, _feed(name="nothing")),
    "an input that was dropped": (UnknownCollection, _feed(name="dropped")),
    "a dataflow that is fed": (UnknownCollection, _feed(name="totals")),
    "a frontier that goes back": (TimeInPast, lambda pool: pool.advance(FRONTIER - 1)),
    "a negative frontier": (InvalidTime, lambda pool: pool.advance(-1)),
    "a frontier beyond 2^63": (InvalidTime, lambda pool: pool.advance(2**63 + 1)),
    "a float as a frontier": (InvalidTime, lambda pool: pool.advance(5.0)),  # type: ignore[arg-type]
    "an input's name that is taken": (DuplicateName, _input(["id"], name="orders")),
    "an input with a dataflow's name": (DuplicateName, _input(["id"], name="totals")),
    "an input without a name": (Unsupported, _input(["id"], name=None)),
    "an input's name that is a number": (Unsupported, _input(["id"], name=5)),
    "an input without a schema": (SchemaMismatch, _input(["id"], None)),
    "an input without a key": (SchemaMismatch, _input(None)),
    "an input's key of numbers": (SchemaMismatch, _input([0])),
    "an input's key that is no column": (SchemaMismatch, _input(["id", "color"])),
    "an input's key with a column twice": (SchemaMismatch, _input(["id", "id"])),
    "an input with two columns of one name": (
        SchemaMismatch,
        _input(["note"], pa.schema([*FIELDS, FIELDS[0]])),
    ),
    "an input of nested values": (Unsupported, _input(["id"], pa.schema(NESTED))),
    "an input of very many columns": (Unsupported, _input(["c0"], pa.schema(WIDE))),
    "a dataflow's name that is taken": (DuplicateName, _install(totals, ["n"], "totals")),
    "a dataflow with an input's name": (DuplicateName, _install(totals, ["n"], "orders")),
    "a dataflow without a name": (Unsupported, _install(totals, ["n"], None)),
    "a dataflow's name that is a list": (Unsupported, _install(totals, ["n"], ["more"])),
    "a dataflow's key that is a number": (SchemaMismatch, _install(totals, 1)),
    "a dataflow's key of lists": (SchemaMismatch, _install(totals, [["n"]])),
    "a dataflow's key that is no column": (SchemaMismatch, _install(totals, ["color"])),
    "a dataflow's key with a column twice": (SchemaMismatch, _install(totals, ["n", "n"])),
    "a dataflow over nothing": (UnknownCollection, _install(Get("nothing", ORDERS), ["id"])),
    "a dataflow over a dropped input": (
        UnknownCollection,
        _install(Get("dropped", ORDERS), ["id"]),
    ),
    "a dataflow over other columns": (
        SchemaMismatch,
        _install(Get("orders", ORDERS.remove(2)), ["id"]),
    ),
    "a reduction with aggregates of several kinds": (
        Unsupported,
        _install(Reduce(orders, (), (LEAST, *totals.aggregates)), []),
    ),
    **{
        f"a dataflow of {name}": (error, _install(node, []))
        for name, (error, node) in UNFIT.items()
    },
    "an explanation of what does not fit together": (
        SchemaMismatch,
        lambda pool: pool.explain(TopK(orders, (), (Order(9),), 1), ["id"]),
    ),
    "an explanation of a list": (
        Unsupported,
        lambda pool: pool.explain([orders], ["id"]),  # type: ignore[arg-type]
    ),
    "an explanation by a number": (
        SchemaMismatch,
        lambda pool: pool.explain(orders, 5),  # type: ignore[arg-type]
    ),
    "an explanation of nothing": (
        UnknownCollection,
        lambda pool: pool.explain(Get("nothing", ORDERS), ["id"]),
    ),
    "a drop of nothing": (UnknownCollection, lambda pool: pool.drop("nothing")),
    "a drop of what is no name": (
        UnknownCollection,
        lambda pool: pool.drop([]),  # type: ignore[arg-type]
    ),
    "a second drop": (UnknownCollection, lambda pool: pool.drop_input("dropped")),
    "a drop of an input as a dataflow": (UnknownCollection, lambda pool: pool.drop("orders")),
    "a drop of a dataflow as an input": (UnknownCollection, lambda pool: pool.drop_input("totals")),
    "a drop of what is read": (InUse, lambda pool: pool.drop_input("orders")),
    "deltas of nothing": (UnknownCollection, lambda pool: pool.drain("nothing")),
    "deltas of an input": (UnknownCollection, lambda pool: pool.drain("orders")),
    "a look-up in nothing": (UnknownCollection, _peek("nothing", id=1)),
    "a look-up in a dropped input": (UnknownCollection, lambda pool: pool.scan("dropped")),
    "a look-up in what is no name": (UnknownCollection, _peek(["orders"], id=1)),
    "a look-up by nothing": (SchemaMismatch, _peek_by(None)),
    "a look-up by names without values": (SchemaMismatch, _peek_by(["id"])),
    "a look-up by a number of a column": (NotIndexed, _peek_by({0: 1})),
    "a look-up by no column": (NotIndexed, _peek("orders")),
    "a look-up by a column that is no key": (NotIndexed, _peek("orders", note="a")),
    "a look-up by a column that there is not": (NotIndexed, _peek("orders", color=1)),
    "a look-up by a string for an integer": (SchemaMismatch, _peek("orders", id="one")),
    "a look-up by an integer that is too great": (SchemaMismatch, _peek("orders", id=2**63)),
    "a look-up by a float for an integer": (SchemaMismatch, _peek("orders", id=1.5)),
    "a look-up by a decimal for an integer": (SchemaMismatch, _peek("orders", id=Decimal("1.9"))),
    "a look-up by NumPy's float for one": (SchemaMismatch, _peek("orders", id=np.float32(1.5))),
    "a look-up by NULL where there is none": (SchemaMismatch, _peek("orders", id=None)),
    "a look-up by a list": (SchemaMismatch, _peek("orders", id=[1])),
    "many look-ups by a list": (SchemaMismatch, _look_up([1])),
    "many look-ups by a table": (SchemaMismatch, _look_up(pa.table({"id": [1]}))),
    "many look-ups by a column twice": (
        SchemaMismatch,
        _look_up(pa.RecordBatch.from_arrays([pa.array([1])] * 2, ["id", "id"])),
    ),
}


@pytest.fixture
def pool() -> Pool:
    """Two orders, an update that waits beyond the frontier, a dataflow, a dropped input."""
    pool = Pool()
    pool.create_input("orders", ORDERS, ["id"])
    pool.create_input("dropped", ORDERS, ["id"])
    pool.drop_input("dropped")
    pool.install("totals", totals, ["customer"])
    pool.feed("orders", _rows(2), np.ones(2, np.int64), 0)
    pool.feed("orders", _rows(id=pa.array([7], INT)), ONE, FRONTIER + 1)
    pool.advance(FRONTIER)
    return pool


def _state(pool: Pool) -> object:
    """All that a caller can see."""
    found = [pool.scan(name) for name in ("orders", "totals")]
    deltas = pool.drain("totals")
    return (
        pool.frontier,
        [(each.time, each.rows.to_pylist(), each.counts.tolist(), each.errors) for each in found],
        (deltas.rows.to_pylist(), deltas.times.tolist(), deltas.diffs.tolist()),
        pool.arrangements(),
    )


@pytest.mark.parametrize("case", CASES)
def test_misuse_is_refused_with_a_typed_error_and_changes_nothing(pool: Pool, case: str) -> None:
    error, misuse = CASES[case]
    pool.drain("totals")
    before = _state(pool)
    with pytest.raises(error):
        misuse(pool)
    assert _state(pool) == before
    pool.feed("orders", _rows(), -ONE, FRONTIER)
    pool.advance(FRONTIER + 2)
    assert pool.scan("orders").rows.column("id").to_pylist() == [7, 101]
    assert pool.scan("totals").rows.to_pylist() == [{"customer": 1, "n": 2}]


def test_every_time_below_2_to_the_63_can_be_used(pool: Pool) -> None:
    pool.feed("orders", _rows(), ONE, np.array([2**63 - 1], np.uint64))
    pool.advance(2**63 - 1)
    pool.advance(2**63)
    assert pool.scan("orders").time == 2**63 - 1
    assert pool.scan("totals").rows.to_pylist() == [{"customer": 1, "n": 4}]


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint16, np.uint64])
def test_times_may_be_of_any_integer_type_and_strided(pool: Pool, dtype: Any) -> None:
    pool.feed("orders", _rows(2), np.ones(2, np.int8), np.array([3, 0, 3, 0], dtype)[::2])
    pool.advance(4)
    assert pool.scan("totals").rows.to_pylist() == [{"customer": 1, "n": 4}]


def test_one_time_may_be_a_numpy_integer(pool: Pool) -> None:
    pool.feed("orders", _rows(), ONE, np.uint64(3))  # type: ignore[arg-type]
    pool.advance(np.int64(4))  # type: ignore[arg-type]
    assert pool.frontier == 4


def test_paths_are_accepted_where_they_hold_the_same_columns_equal_in_other_ways() -> None:
    chained = (
        Path((0,), (Lookup(1, (0,), (0,)), Lookup(2, (0,), (3,)))),
        Path((0,), (Lookup(2, (0,), (3,)), Lookup(0, (0,), (6,)))),
        Path((0,), (Lookup(0, (0,), (6,)), Lookup(1, (0,), (6,)))),
    )
    pool = Pool()
    pool.create_input("orders", ORDERS, ["id"])
    pool.install("out", DeltaJoin((orders, orders, orders), chained, (("id", 7),)), ["id"])
    pool.feed("orders", _rows(2), np.ones(2, np.int64), 0)
    pool.advance(1)
    assert pool.scan("out").rows.to_pylist() == [{"id": 1}]
    assert pool.scan("out").counts.tolist() == [2]


@pytest.mark.parametrize(
    "condition",
    [
        Call("is_not_null", (NOTE,), pa.bool_(), False),
        Call("gt", (NOTE, Literal("", pa.string())), pa.bool_(), True),
        Call("and", (Call("eq", (NOTE, NOTE), pa.bool_(), True), TRUE), pa.bool_(), True),
    ],
)
def test_a_column_is_without_nulls_where_a_filter_takes_them_away(condition: Expression) -> None:
    pool = Pool()
    pool.create_input("orders", ORDERS, ["id"])
    filtered = Filter(Filter(orders, condition), TRUE)
    pool.install("out", _mapped(ID, NEVER_NULL, node=filtered), ["c0"])
    pool.feed("orders", _rows(2, note=pa.array([None, "a note"])), np.ones(2, np.int64), 0)
    pool.advance(1)
    assert pool.scan("out").rows.to_pylist() == [{"c0": 101, "c1": "a note"}]


@pytest.mark.parametrize("how", [{}, {"stops": True}])
def test_a_recursion_may_take_any_number_of_rounds(how: dict[str, bool]) -> None:
    pool = Pool(max_rounds=2**70, max_updates=2**70)
    pool.create_input("orders", ORDERS, ["id"])
    body = Distinct(Union((orders, Recursive("x", ORDERS))))
    pool.install("out", _looped(body, max_rounds=2**70, **how), ["id"])
    pool.feed("orders", _rows(2), np.ones(2, np.int64), 0)
    pool.advance(1)
    assert pool.scan("out").rows.num_rows == 2
