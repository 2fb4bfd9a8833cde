"""Nodes describe dataflows: `Pool.install` plans them and runs one operator for each.

A node denotes a collection. Nodes are frozen and compare by structure, which is how the pool
finds an arrangement that another dataflow already maintains. Every node knows its `schema`, an
Arrow schema with nullability. Keys are compared with NULL equal to NULL: a SQL join filters its
NULL keys out beforehand.

Whether a node fits what it reads is checked when it is installed. Any can be made, and its `schema`
leaves out the columns that there are not.

The examples below show the rows of a node, each with its count, over three orders:

>>> from ivm.dataflow.expressions import Call
>>> from ivm.pool import Pool
>>> int64, pool = pa.int64(), Pool()
>>> schema = pa.schema([pa.field(name, int64, nullable=False) for name in ("id", "customer")])
>>> orders = Constant(((1, 7), (2, 7), (3, 8)), schema)
>>> pool.advance(1)
>>> def rows(node):
...     pool.install("shown", node, key=None)
...     deltas = pool.drain("shown")
...     pool.drop("shown")
...     values = [tuple(row.values()) for row in deltas.rows.to_pylist()]
...     return sorted(zip(values, deltas.diffs.tolist()))
>>> rows(orders)
[((1, 7), 1), ((2, 7), 1), ((3, 8), 1)]
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final, TypeAlias

import pyarrow as pa
from numpy.typing import ArrayLike

from ivm.dataflow.aggregates import (
    AGGREGATES,
    WINDOW_FUNCTIONS,
    Aggregate,
    Order,
    WindowCall,
    WindowFunction,
    window_kind,
)
from ivm.dataflow.exchange_node import Exchange as Exchange
from ivm.dataflow.expressions import Column, Expression, Literal, Value
from ivm.dataflow.join_nodes import Arrange as Arrange
from ivm.dataflow.join_nodes import DeltaJoin as DeltaJoin
from ivm.dataflow.join_nodes import Join as Join
from ivm.dataflow.join_nodes import Lookup as Lookup
from ivm.dataflow.join_nodes import Path as Path
from ivm.dataflow.loop_nodes import EnterAt as EnterAt
from ivm.dataflow.loop_nodes import Iterate as Iterate
from ivm.dataflow.loop_nodes import Recursive as Recursive
from ivm.dataflow.node import Node as Node
from ivm.dataflow.node import SameColumns, Sizes, TypeText, Unary, chosen
from ivm.dataflow.node_hash import Hashed
from ivm.dataflow.schema_checks import columns_exist, key_exists, types_agree
from ivm.dataflow.selectivity import GROUP, selectivity
from ivm.dataflow.text import (
    aggregate_text,
    columns_text,
    expression_text,
    orders_text,
    window_call_text,
)
from ivm.errors import SchemaMismatch, Unsupported


@dataclass(frozen=True, slots=True, eq=False)
class Get(Node):
    """Get reads the rows of an input or of an installed dataflow, by name."""

    name: str
    schema: pa.Schema
    children = ()
    expressions = ()
    passes_rows_on = False
    keeps_growth = True

    def check(self) -> None:
        """A name is looked up where it is planned."""

    def estimate(self, sizes: Sizes) -> float:
        return sizes.counted(self.name)

    def text(self, type_text: TypeText) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Node):
    """Constant holds rows that are there from the first time on.

    >>> rows(Constant(((4, 9), (4, 9)), schema))
    [((4, 9), 2)]
    """

    rows: tuple[tuple[Value | None, ...], ...]
    schema: pa.Schema
    children = ()
    expressions = ()
    passes_rows_on = False
    keeps_growth = True

    def check(self) -> None:
        for row in self.rows:
            if len(row) != len(self.schema):
                raise SchemaMismatch(f"a row of {len(row)} values, but {len(self.schema)} columns")

    def estimate(self, sizes: Sizes) -> float:
        return len(self.rows)

    def text(self, type_text: TypeText) -> str:
        return f"{len(self.rows)} rows"


@dataclass(frozen=True, slots=True, eq=False)
class Filter(SameColumns):
    """Filter keeps the rows for which `predicate` is true (not false, not NULL).

    >>> rows(Filter(orders, Call("eq", (columns(orders)[1], Literal(7, int64)), pa.bool_(), False)))
    [((1, 7), 1), ((2, 7), 1)]
    """

    predicate: Expression
    passes_rows_on = True
    keeps_growth = True

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.predicate,)

    def check(self) -> None:
        types_agree("a condition", [self.predicate.type], [pa.bool_()])

    def estimate(self, sizes: Sizes) -> float:
        return sizes.of(self.input) * selectivity(self.predicate)

    def text(self, type_text: TypeText) -> str:
        return _expression(self.predicate, type_text)


@dataclass(frozen=True, slots=True, eq=False)
class Map(Unary):
    """Map computes one output column for each `(name, expression)`, as a projection does.

    >>> rows(Map(orders, (("customer", columns(orders)[1]), ("seven", Literal(7, int64)))))
    [((7, 7), 2), ((8, 7), 1)]
    """

    outputs: tuple[tuple[str, Expression], ...]
    schema: pa.Schema = field(init=False, compare=False)
    passes_rows_on = True
    keeps_growth = True

    def __post_init__(self) -> None:
        fields = [pa.field(name, e.type, e.nullable) for name, e in self.outputs]
        object.__setattr__(self, "schema", pa.schema(fields))

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return tuple(expression for _, expression in self.outputs)

    @property
    def constant_columns(self) -> tuple[int, ...]:
        return tuple(i for i, (_, e) in enumerate(self.outputs) if isinstance(e, Literal))

    def check(self) -> None:
        """Any input fits."""

    def text(self, type_text: TypeText) -> str:
        return ", ".join(f"{n} := {_expression(e, type_text)}" for n, e in self.outputs)


RowFunction: TypeAlias = Callable[[pa.RecordBatch], tuple[pa.RecordBatch, ArrayLike]]
"""Rows to rows, and for each the index of the row that it comes from (integers)."""


@dataclass(frozen=True, slots=True, eq=False)
class FlatMap(Unary):
    """FlatMap turns each row into any number of rows, by a Python function.

    `function` gets up to a few thousand rows at a time and answers rows of `schema`. It must be
    deterministic, and what it answers for a row may not depend on the rows beside it: it is asked
    again when a row goes. Where it raises, or answers what does not fit, the rows at fault are
    error rows. Nodes share an arrangement where their functions are equal.

    >>> def twice(batch):
    ...     return pa.concat_batches([batch, batch]), [*range(len(batch)), *range(len(batch))]
    >>> rows(FlatMap(orders, twice, schema))
    [((1, 7), 2), ((2, 7), 2), ((3, 8), 2)]
    """

    function: RowFunction
    schema: pa.Schema
    expressions = ()
    passes_rows_on = True
    keeps_growth = True

    def check(self) -> None:
        """Any input fits."""

    def text(self, type_text: TypeText) -> str:
        return f"to ({', '.join(self.schema.names)})"


@dataclass(frozen=True, slots=True, eq=False)
class Consolidate(SameColumns):
    """Consolidate adds up the diffs of equal rows and times, and drops sums of zero."""

    expressions = ()
    passes_rows_on = False
    keeps_growth = True

    def check(self) -> None:
        """Any input fits."""


@dataclass(frozen=True, slots=True, eq=False)
class Union(Node):
    """Union adds collections whose columns have the same types; names are the first input's.

    >>> rows(Union((orders, Constant(((3, 8),), schema))))
    [((1, 7), 1), ((2, 7), 1), ((3, 8), 2)]
    """

    inputs: tuple[Node, ...]
    schema: pa.Schema = field(init=False, compare=False)
    expressions = ()
    passes_rows_on = True
    keeps_growth = True

    def __post_init__(self) -> None:
        fields = [
            pa.field(terms[0].name, terms[0].type, any(term.nullable for term in terms))
            for terms in zip(*(node.schema for node in self.inputs), strict=False)
        ]
        object.__setattr__(self, "schema", pa.schema(fields))

    @property
    def children(self) -> tuple[Node, ...]:
        return self.inputs

    def check(self) -> None:
        if not self.inputs:
            raise Unsupported("a sum of nothing")
        for term in self.inputs[1:]:
            types_agree("a sum", self.inputs[0].schema.types, term.schema.types)

    def estimate(self, sizes: Sizes) -> float:
        return sum(map(sizes.of, self.inputs))


@dataclass(frozen=True, slots=True, eq=False)
class Negate(SameColumns):
    """Negate negates every diff.

    >>> rows(Union((orders, Negate(Constant(((3, 8),), schema)))))
    [((1, 7), 1), ((2, 7), 1)]
    """

    expressions = ()
    passes_rows_on = True
    keeps_growth = False

    def check(self) -> None:
        """Any input fits."""

    def estimate(self, sizes: Sizes) -> float:
        return -sizes.of(self.input)


@dataclass(frozen=True, slots=True, eq=False)
class Reduce(Unary):
    """Reduce has one row for each key that has rows: the key columns, then the aggregates.

    With an empty `key` there is one row while the input has any, and none otherwise, unlike in SQL,
    where there is one always. The aggregates are any number of `LINEAR` ones, whose states are
    added up together, or a single one of the others, which each need their group's values in an
    order of their own; `ivm.dataflow.combinators.reduce` combines both kinds.

    >>> rows(Reduce(orders, (1,), (Aggregate("count", None, "n", int64, nullable=False),)))
    [((7, 2), 1), ((8, 1), 1)]
    """

    key: tuple[int, ...]
    aggregates: tuple[Aggregate, ...]
    schema: pa.Schema = field(init=False, compare=False)
    expressions = ()
    passes_rows_on = False

    def __post_init__(self) -> None:
        fields = chosen(list(self.input.schema), self.key)
        fields += [pa.field(a.name, a.type, a.nullable) for a in self.aggregates]
        object.__setattr__(self, "schema", pa.schema(fields))

    @property
    def keeps_growth(self) -> bool:
        return not self.aggregates

    def check(self) -> None:
        given = self.input.schema
        key_exists("a reduction", given, self.key)
        for a in self.aggregates:
            what = f"a {a.function}"
            if a.function not in AGGREGATES:
                known = ", ".join(sorted(AGGREGATES))
                raise Unsupported(f"an aggregate {a.function}: there are {known}")
            if a.column is None and a.function != "count":
                raise SchemaMismatch(f"{what} of no column")
            columns_exist(what, given, (a.column, a.other, a.where, *(o.column for o in a.order)))
            if a.where is not None and not pa.types.is_boolean(given.field(a.where).type):
                raise SchemaMismatch(f"{what} where {given.field(a.where)}")

    def estimate(self, sizes: Sizes) -> float:
        return sizes.of(self.input) / GROUP if self.key else 1

    def text(self, type_text: TypeText) -> str:
        calls = (f"{a.name} := {aggregate_text(a)}" for a in self.aggregates)
        return f"by {columns_text(self.key)} {', '.join(calls)}"


@dataclass(frozen=True, slots=True, eq=False)
class Distinct(SameColumns):
    """Distinct keeps every row whose count is positive, once.

    >>> rows(Distinct(project(orders, (1,))))
    [((7,), 1), ((8,), 1)]
    """

    expressions = ()
    passes_rows_on = False
    keeps_growth = True

    def check(self) -> None:
        """Any input fits."""


@dataclass(frozen=True, slots=True, eq=False)
class Threshold(SameColumns):
    """Threshold bounds counts: a row with count c is there min(max(c, 0), `limit`) times.

    A `limit` of None takes negative counts away only; `Distinct` is the limit 1.

    >>> three = Union((orders, orders, orders))
    >>> rows(Threshold(project(three, (1,)), limit=4))
    [((7,), 4), ((8,), 3)]
    """

    limit: int | None = None
    expressions = ()
    passes_rows_on = False

    @property
    def keeps_growth(self) -> bool:
        return self.limit == 1

    def check(self) -> None:
        if self.limit is not None and self.limit < 1:
            raise Unsupported(f"a threshold of {self.limit} copies")

    def text(self, type_text: TypeText) -> str:
        return "" if self.limit is None else f"limit {self.limit}"


@dataclass(frozen=True, slots=True, eq=False)
class TopK(SameColumns):
    """TopK keeps, for each key, the rows at positions `offset` to `offset + limit` of `order`.

    Ties are broken by the remaining columns in order, ascending, so that the answer is determined.
    `limit` None keeps all rows after `offset`. The columns are the input's.

    >>> rows(TopK(orders, key=(1,), order=(Order(0, descending=True),), limit=1))
    [((2, 7), 1), ((3, 8), 1)]
    """

    key: tuple[int, ...]
    order: tuple[Order, ...]
    limit: int | None
    offset: int = 0
    expressions = ()
    passes_rows_on = False
    keeps_growth = False

    def check(self) -> None:
        if self.offset < 0 or (self.limit is not None and self.limit < 0):
            raise Unsupported(f"a top-k of {self.limit} rows after {self.offset}")
        key_exists("a top-k", self.schema, self.key)
        columns_exist("a top-k", self.schema, (o.column for o in self.order))

    def estimate(self, sizes: Sizes) -> float:
        rows = sizes.of(self.input)
        if self.limit is None:
            return rows
        return min((rows / GROUP if self.key else 1) * self.limit, rows)

    def text(self, type_text: TypeText) -> str:
        by = f"by {columns_text(self.key)} order {orders_text(self.order)}"
        return f"{by} limit {self.limit} offset {self.offset}"


@dataclass(frozen=True, slots=True, eq=False)
class TemporalFilter(Node):
    """The rows of `events` whose moment, their first column, has come; without that column.

    `clock` is a collection of one row and column of the moment's type, never NULL either: the
    present moment, which may only grow. While it is empty nothing has come. SQL's filter, with a
    begin and an end for each row, is two events: the row at its begin, its negation at its end. Not
    within an `Iterate`.
    """

    events: Node
    clock: Node
    schema: pa.Schema = field(init=False, compare=False)
    expressions = ()
    passes_rows_on = False
    keeps_growth = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", pa.schema(list(self.events.schema)[1:]))

    @property
    def children(self) -> tuple[Node, ...]:
        return (self.events, self.clock)

    def check(self) -> None:
        """Its moments are compared with its clock where it is planned."""

    def estimate(self, sizes: Sizes) -> float:
        return sizes.of(self.events)

    def text(self, type_text: TypeText) -> str:
        return f"by {self.clock.schema.names[0]}"


@dataclass(frozen=True, slots=True, eq=False)
class Window(Unary):
    """Window adds to each row the results of `calls` over the rows of equal `key`, in `order`.

    Rows that tie in `order` are peers. Among them the remaining columns decide, ascending, so that
    the answer is determined, and copies of a row stand side by side.

    >>> call = WindowCall("row_number", None, "n", int64, False)
    >>> rows(Window(orders, (1,), (Order(0),), (call,)))
    [((1, 7, 1), 1), ((2, 7, 2), 1), ((3, 8, 1), 1)]
    """

    key: tuple[int, ...]
    order: tuple[Order, ...]
    calls: tuple[WindowCall, ...]
    schema: pa.Schema = field(init=False, compare=False)
    expressions = ()
    passes_rows_on = False
    keeps_growth = False

    def __post_init__(self) -> None:
        results = [pa.field(c.name, c.type, c.nullable) for c in self.calls]
        object.__setattr__(self, "schema", pa.schema([*self.input.schema, *results]))

    def check(self) -> None:
        given = self.input.schema
        key_exists("a window", given, self.key)
        columns_exist("a window", given, (o.column for o in self.order))
        for call in self.calls:
            if call.function not in WINDOW_FUNCTIONS:
                known = ", ".join(sorted(WINDOW_FUNCTIONS))
                raise Unsupported(f"a window function {call.function}: there are {known}")
            if call.column is None and not _counts_rows(call.function):
                refused = SchemaMismatch if window_kind(call.function) == "linear" else Unsupported
                raise refused(f"a {call.function} of no column")
            columns_exist(f"a {call.function}", given, call.reads())

    def text(self, type_text: TypeText) -> str:
        made = ", ".join(f"{c.name} := {window_call_text(c)}" for c in self.calls)
        return f"by {columns_text(self.key)} order {orders_text(self.order)} {made}"


KINDS: Final[tuple[type[Node], ...]] = (
    Get,
    Constant,
    Filter,
    Map,
    FlatMap,
    Consolidate,
    Union,
    Negate,
    Arrange,
    Join,
    DeltaJoin,
    Reduce,
    Distinct,
    Threshold,
    TopK,
    TemporalFilter,
    Window,
    Recursive,
    Iterate,
    EnterAt,
    Exchange,
)
"""All kinds of nodes: each has a planner, by `ivm.planner.dispatch`."""

for _kind in KINDS:
    if _kind.__eq__ is not Hashed.__eq__:
        raise ImportError(f"node {_kind.__name__}: make its dataclass with `eq=False`")


@lru_cache
def stored(name: str, schema: pa.Schema, key: tuple[int, ...]) -> Arrange:
    """Read an input or an installed dataflow by its key, as the pool keeps it."""
    return Arrange(Get(name, schema), key)


def columns(node: Node) -> list[Column]:
    """List one expression for each column of `node`."""
    return [Column(i, f.type, f.nullable) for i, f in enumerate(node.schema)]


def project(node: Node, indices: tuple[int, ...]) -> Node:
    """Project `node` to the columns `indices`; where nothing changes it is `node` itself."""
    given = columns(node)
    if indices == tuple(range(len(given))):
        return node
    return Map(node, tuple((node.schema.field(i).name, given[i]) for i in indices))


def _counts_rows(function: WindowFunction) -> bool:
    """Tell whether `function` needs no column."""
    return function == "count" or window_kind(function) == "number"


def _expression(expression: Expression, type_text: TypeText) -> str:
    """Write an expression over positions."""
    return expression_text(expression, lambda i: f"${i}", type_text)
