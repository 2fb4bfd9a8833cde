"""Nodes describe dataflows: `Pool.install` plans them and runs one operator for each.

A node denotes a collection. Nodes are frozen and compare by structure, which is how the pool
finds an arrangement that another dataflow already maintains. Every node knows its `schema`, an
Arrow schema with nullability. Keys are compared with NULL equal to NULL: a SQL join filters its
NULL keys out beforehand.

Whether a node fits what it reads is checked when it is installed. Any can be made, and its `schema`
leaves out the columns that there are not.

>>> orders = Get("orders", pa.schema([pa.field("id", pa.int64(), nullable=False)]))
>>> project(orders, (0,)) is orders, Distinct(orders) == Distinct(orders)
(True, True)
>>> Threshold(orders, limit=2).schema.names
['id']
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TypeAlias, get_args

import pyarrow as pa
from numpy.typing import ArrayLike

from ivm.dataflow.aggregates import Aggregate, Order, WindowCall
from ivm.dataflow.arrangement_order import arrangement_order
from ivm.dataflow.expressions import Column, Expression, Value
from ivm.dataflow.node_hash import Hashed


@dataclass(frozen=True, slots=True, eq=False)
class Get(Hashed):
    """Get reads the rows of an input or of an installed dataflow, by name."""

    name: str
    schema: pa.Schema


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Hashed):
    """Constant holds rows that are there from the first time on."""

    rows: tuple[tuple[Value | None, ...], ...]
    schema: pa.Schema


@dataclass(frozen=True, slots=True, eq=False)
class Filter(Hashed):
    """Filter keeps the rows for which `predicate` is true (not false, not NULL)."""

    input: "Node"
    predicate: Expression
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.input.schema)


@dataclass(frozen=True, slots=True, eq=False)
class Map(Hashed):
    """Map computes one output column for each `(name, expression)`, as a projection does."""

    input: "Node"
    outputs: tuple[tuple[str, Expression], ...]
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        fields = [pa.field(name, e.type, e.nullable) for name, e in self.outputs]
        object.__setattr__(self, "schema", pa.schema(fields))


RowFunction: TypeAlias = Callable[[pa.RecordBatch], tuple[pa.RecordBatch, ArrayLike]]
"""Rows to rows, and for each the index of the row that it comes from (integers)."""


@dataclass(frozen=True, slots=True, eq=False)
class FlatMap(Hashed):
    """FlatMap turns each row into any number of rows, by a Python function.

    `function` gets up to a few thousand rows at a time and answers rows of `schema`. It must be
    deterministic, and what it answers for a row may not depend on the rows beside it: it is asked
    again when a row goes. Where it raises, or answers what does not fit, the rows at fault are
    error rows. Nodes share an arrangement where their functions are equal.
    """

    input: "Node"
    function: RowFunction
    schema: pa.Schema


@dataclass(frozen=True, slots=True, eq=False)
class Consolidate(Hashed):
    """Consolidate adds up the diffs of equal rows and times, and drops sums of zero."""

    input: "Node"
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.input.schema)


@dataclass(frozen=True, slots=True, eq=False)
class Union(Hashed):
    """Union adds collections whose columns have the same types; names are the first input's."""

    inputs: tuple["Node", ...]
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        fields = [
            pa.field(terms[0].name, terms[0].type, any(term.nullable for term in terms))
            for terms in zip(*(node.schema for node in self.inputs), strict=False)
        ]
        object.__setattr__(self, "schema", pa.schema(fields))


@dataclass(frozen=True, slots=True, eq=False)
class Negate(Hashed):
    """Negate negates every diff."""

    input: "Node"
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.input.schema)


@dataclass(frozen=True, slots=True, eq=False)
class Arrange(Hashed):
    """Arrange indexes `input` by the columns `key`, once for every dataflow that asks for the same.

    As a collection it has the key columns first, in the order of `key`, and then the others.
    """

    input: "Node"
    key: tuple[int, ...]
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        given = self.input.schema
        if self.key != tuple(range(len(self.key))):
            given = pa.schema(_chosen(list(given), arrangement_order(len(given), self.key)))
        object.__setattr__(self, "schema", given)


@lru_cache
def stored(name: str, schema: pa.Schema, key: tuple[int, ...]) -> Arrange:
    """Read an input or an installed dataflow by its key, as the pool keeps it."""
    return Arrange(Get(name, schema), key)


@dataclass(frozen=True, slots=True, eq=False)
class Join(Hashed):
    """Join pairs the rows with equal keys and projects the pairs; counts multiply.

    The candidate columns are the key's, the left's others, the right's others, in this order and
    numbered from 0; `outputs` lists those to keep, with their names. Both keys have the same types.
    """

    left: Arrange
    right: Arrange
    outputs: tuple[tuple[str, int], ...]
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        candidates = [*self.left.schema, *list(self.right.schema)[len(self.right.key) :]]
        object.__setattr__(self, "schema", _named(candidates, self.outputs))


@dataclass(frozen=True, slots=True)
class Lookup:
    """A look-up finds the rows of relation `relation` whose columns `key` equal `bound`.

    `key` numbers the relation's own columns, `bound` the columns of all relations together, those
    of relations that the path has met before.
    """

    relation: int
    key: tuple[int, ...]
    bound: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """A path leads from changes of one relation, arranged by `key`, to partners in the others."""

    key: tuple[int, ...]
    lookups: tuple[Lookup, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DeltaJoin(Hashed):
    """A delta join joins all `relations` on the equalities of its paths, without state of its own.

    `paths[i]` starts from changes of relation i and looks up every other relation once. All paths
    ask for the same equalities. Columns are numbered over all relations, one after another;
    `outputs` lists those to keep, with their names. `inputs` are the arrangements that the paths
    use, each once. `ivm.dataflow.delta_join` makes the paths from what shall be equal.
    """

    relations: tuple["Node", ...]
    paths: tuple[Path, ...]
    outputs: tuple[tuple[str, int], ...]
    inputs: tuple[Arrange, ...] = field(init=False, compare=False)
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        used = [(i, path.key) for i, path in enumerate(self.paths)]
        used += [(lookup.relation, lookup.key) for path in self.paths for lookup in path.lookups]
        there = range(len(self.relations))
        inputs = [Arrange(self.relations[i], key) for i, key in used if i in there]
        object.__setattr__(self, "inputs", tuple(dict.fromkeys(inputs)))
        candidates = [f for relation in self.relations for f in relation.schema]
        object.__setattr__(self, "schema", _named(candidates, self.outputs))


@dataclass(frozen=True, slots=True, eq=False)
class Reduce(Hashed):
    """Reduce has one row for each key that has rows: the key columns, then the aggregates.

    With an empty `key` there is one row while the input has any, and none otherwise, unlike in SQL,
    where there is one always. The
    aggregates are any number of `LINEAR` ones, whose states are added up together, or a single one
    of the others, which each need their group's values in an order of their own;
    `ivm.dataflow.combinators.reduce` combines both kinds.
    """

    input: "Node"
    key: tuple[int, ...]
    aggregates: tuple[Aggregate, ...]
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        fields = _chosen(list(self.input.schema), self.key)
        fields += [pa.field(a.name, a.type, a.nullable) for a in self.aggregates]
        object.__setattr__(self, "schema", pa.schema(fields))


@dataclass(frozen=True, slots=True, eq=False)
class Distinct(Hashed):
    """Distinct keeps every row whose count is positive, once."""

    input: "Node"
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.input.schema)


@dataclass(frozen=True, slots=True, eq=False)
class Threshold(Hashed):
    """Threshold bounds counts: a row with count c is there min(max(c, 0), `limit`) times.

    A `limit` of None takes negative counts away only; `Distinct` is the limit 1.
    """

    input: "Node"
    limit: int | None = None
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.input.schema)


@dataclass(frozen=True, slots=True, eq=False)
class TopK(Hashed):
    """TopK keeps, for each key, the rows at positions `offset` to `offset + limit` of `order`.

    Ties are broken by the remaining columns in order, ascending, so that the answer is determined.
    `limit` None keeps all rows after `offset`. The columns are the input's.
    """

    input: "Node"
    key: tuple[int, ...]
    order: tuple[Order, ...]
    limit: int | None
    offset: int = 0
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.input.schema)


@dataclass(frozen=True, slots=True, eq=False)
class TemporalFilter(Hashed):
    """The rows of `events` whose moment, their first column, has come; without that column.

    `clock` is a collection of one row and column of the moment's type, never NULL either: the
    present moment, which may only grow. While it is empty nothing has come. SQL's filter, with a
    begin and an end for each row, is two events: the row at its begin, its negation at its end. Not
    within an `Iterate`.
    """

    events: "Node"
    clock: "Node"
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", pa.schema(list(self.events.schema)[1:]))


@dataclass(frozen=True, slots=True, eq=False)
class Window(Hashed):
    """Window adds to each row the results of `calls` over the rows of equal `key`, in `order`.

    Rows that tie in `order` are peers. Among them the remaining columns decide, ascending, so that
    the answer is determined, and copies of a row stand side by side.
    """

    input: "Node"
    key: tuple[int, ...]
    order: tuple[Order, ...]
    calls: tuple[WindowCall, ...]
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        results = [pa.field(c.name, c.type, c.nullable) for c in self.calls]
        object.__setattr__(self, "schema", pa.schema([*self.input.schema, *results]))


@dataclass(frozen=True, slots=True, eq=False)
class Recursive(Hashed):
    """Recursive reads, inside the bodies of an `Iterate`, the value of `name` in this round."""

    name: str
    schema: pa.Schema


@dataclass(frozen=True, slots=True, eq=False)
class Iterate(Hashed):
    """Iterate computes the fixed point of `name = body` for all bindings, from empty collections.

    With X(0) empty, each round i has X(i + 1) = body(X(i)); the node is the value of `result` once
    X(i + 1) = X(i) for every name. More rounds than `max_rounds` (None: the
    pool's bound; of each priority, see `EnterAt`) raise `NoFixedPoint`; if it `stops`, they are not
    begun instead, and the node is what `result` has by then. A body's schema is that of its
    `Recursive` by types.
    """

    bindings: tuple[tuple[str, "Node"], ...]
    result: str
    max_rounds: int | None = None
    stops: bool = False
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        body = dict(self.bindings).get(self.result)
        object.__setattr__(self, "schema", pa.schema([]) if body is None else body.schema)


@dataclass(frozen=True, slots=True, eq=False)
class EnterAt(Hashed):
    """EnterAt brings rows into an `Iterate` that binds `into`, in the order of their priority.

    Rows enter by `priority`, an int64 expression over the row (below 0 and NULL count as 0, beyond
    2^32 - 1 as that): rows of the next priority enter once what came before no longer changes
    anything. Other collections enter with priority 0. A fixed point that does not depend on the
    order, as that of least labels, is reached with less work when what wins enters first
    (prioritised fixed point; differential dataflow, CIDR 2013, section 5).
    """

    input: "Node"
    priority: Expression
    into: str
    schema: pa.Schema = field(init=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "schema", self.input.schema)


Node: TypeAlias = (
    Get
    | Constant
    | Filter
    | Map
    | FlatMap
    | Consolidate
    | Union
    | Negate
    | Arrange
    | Join
    | DeltaJoin
    | Reduce
    | Distinct
    | Threshold
    | TopK
    | TemporalFilter
    | Window
    | Recursive
    | Iterate
    | EnterAt
)

for _kind in get_args(Node):
    if _kind.__eq__ is not Hashed.__eq__:
        raise ImportError(f"node {_kind.__name__}: make its dataclass with `eq=False`")


def _chosen(fields: Sequence[pa.Field], columns: Iterable[int]) -> list[pa.Field]:
    """Pick the fields at `columns`, without positions that do not exist."""
    return [fields[i] for i in columns if 0 <= i < len(fields)]


def _named(fields: Sequence[pa.Field], outputs: Iterable[tuple[str, int]]) -> pa.Schema:
    """Pick the fields at the columns of `outputs`, and rename them so."""
    return pa.schema([f.with_name(name) for name, i in outputs for f in _chosen(fields, [i])])


def columns(node: Node) -> list[Column]:
    """List one expression for each column of `node`."""
    return [Column(i, f.type, f.nullable) for i, f in enumerate(node.schema)]


def project(node: Node, indices: tuple[int, ...]) -> Node:
    """Project `node` to the columns `indices`; where nothing changes it is `node` itself."""
    given = columns(node)
    if indices == tuple(range(len(given))):
        return node
    return Map(node, tuple((node.schema.field(i).name, given[i]) for i in indices))
