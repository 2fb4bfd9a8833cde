"""Loops: fixed points, the names that they bind, and the nodes that read these names.

>>> reach = Recursive("reach", pa.schema([("node", pa.int64())]))
>>> free_names(reach), free_names(Iterate((("reach", reach),), "reach"))
(frozenset({'reach'}), frozenset())
"""

from dataclasses import dataclass, field

import pyarrow as pa

from ivm.dataflow.expressions import Expression
from ivm.dataflow.node import Node, SameColumns, Sizes, TypeText
from ivm.dataflow.node_hash import remembered
from ivm.dataflow.schema_checks import types_agree
from ivm.dataflow.text import expression_text
from ivm.errors import Unsupported


@dataclass(frozen=True, slots=True, eq=False)
class Recursive(Node):
    """Recursive reads, inside the bodies of an `Iterate`, the value of `name` in this round."""

    name: str
    schema: pa.Schema
    children = ()
    expressions = ()
    passes_rows_on = False
    keeps_growth = True

    def check(self) -> None:
        """A name is looked up where it is planned."""

    def estimate(self, sizes: Sizes) -> float:
        return 0

    def text(self, type_text: TypeText) -> str:
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Iterate(Node):
    """Iterate computes the fixed point of `name = body` for all bindings, from empty collections.

    With X(0) empty, each round i has X(i + 1) = body(X(i)); the node is the value of `result` once
    X(i + 1) = X(i) for every name. More rounds than `max_rounds` (None: the pool's bound; of each
    priority, see `EnterAt`) raise `NoFixedPoint`; if it `stops`, they are not begun instead, and
    the node is what `result` has by then. A body's schema is that of its `Recursive` by types.

    >>> from ivm.dataflow.nodes import Arrange, Constant, Distinct, Join, Union
    >>> from ivm.pool import Pool
    >>> edges = pa.schema([(name, pa.int64()) for name in ("src", "dst")])
    >>> by_src = Arrange(Constant(((0, 1), (1, 2), (3, 4)), edges), (0,))
    >>> further = Join(Arrange(reach, (0,)), by_src, (("node", 1),))
    >>> body = Distinct(Union((Constant(((0,),), reach.schema), further)))
    >>> pool = Pool()
    >>> pool.advance(1)
    >>> _ = pool.install("reached", Iterate((("reach", body),), "reach"), key=["node"])
    >>> sorted(pool.scan("reached").rows["node"].to_pylist())
    [0, 1, 2]
    """

    bindings: tuple[tuple[str, Node], ...]
    result: str
    max_rounds: int | None = None
    stops: bool = False
    schema: pa.Schema = field(init=False, compare=False)
    expressions = ()
    passes_rows_on = True

    def __post_init__(self) -> None:
        body = dict(self.bindings).get(self.result)
        object.__setattr__(self, "schema", pa.schema([]) if body is None else body.schema)

    @property
    def children(self) -> tuple[Node, ...]:
        return tuple(body for _, body in self.bindings)

    @property
    def keeps_growth(self) -> bool:
        return not self.stops

    def check(self) -> None:
        if self.max_rounds is not None and self.max_rounds < 0:
            raise Unsupported(f"a recursion of {self.max_rounds} rounds")
        bodies = dict(self.bindings)
        if len(bodies) < len(self.bindings) or self.result not in bodies:
            names = ", ".join(repr(name) for name, _ in self.bindings)
            raise Unsupported(
                f"a recursion of {names} for {self.result!r}: each name is bound once"
            )
        for body in bodies.values():
            for name, schema in recursive_schemas(body).items():
                if name in bodies:
                    types_agree(f"the recursion {name!r}", schema.types, bodies[name].schema.types)

    def estimate(self, sizes: Sizes) -> float:
        return sizes.of(dict(self.bindings)[self.result])

    def text(self, type_text: TypeText) -> str:
        return self.result


@dataclass(frozen=True, slots=True, eq=False)
class EnterAt(SameColumns):
    """EnterAt brings rows into an `Iterate` that binds `into`, in the order of their priority.

    Rows enter by `priority`, an int64 expression over the row (below 0 and NULL count as 0, beyond
    2^32 - 1 as that): rows of the next priority enter once what came before no longer changes
    anything. Other collections enter with priority 0. A fixed point that does not depend on the
    order, as that of least labels, is reached with less work when what wins enters first
    (prioritised fixed point; differential dataflow, CIDR 2013, section 5).
    """

    priority: Expression
    into: str
    passes_rows_on = True
    keeps_growth = False  # the rounds of its loop start anew with each priority

    @property
    def expressions(self) -> tuple[Expression, ...]:
        return (self.priority,)

    def check(self) -> None:
        """Any input fits."""

    def text(self, type_text: TypeText) -> str:
        priority = expression_text(self.priority, lambda i: f"${i}", type_text)
        return f"{priority} into {self.into}"


@remembered
def free_names(node: Node) -> frozenset[str]:
    """Collect the recursive names that `node` refers to and does not bind."""
    below = frozenset[str]().union(*map(free_names, node.children))
    match node:
        case Recursive():
            return frozenset([node.name])
        case EnterAt():
            return below | {node.into}
    return below - _bound(node)


@remembered
def passed_names(node: Node) -> frozenset[str]:
    """Collect the free recursive names whose rows reach `node` without a sum on the way."""
    if isinstance(node, Recursive):
        return frozenset([node.name])
    if not node.passes_rows_on:
        return frozenset()
    return frozenset[str]().union(*map(passed_names, node.children)) - _bound(node)


@remembered
def recursive_schemas(node: Node) -> dict[str, pa.Schema]:
    """Map each free recursive name to the schema under which it is referred to."""
    if isinstance(node, Recursive):
        return {node.name: node.schema}
    found: dict[str, pa.Schema] = {}
    for child in node.children:
        found |= recursive_schemas(child)
    return {name: schema for name, schema in found.items() if name not in _bound(node)}


def _bound(node: Node) -> frozenset[str]:
    """Collect the recursive names that `node` binds."""
    return frozenset(n for n, _ in node.bindings) if isinstance(node, Iterate) else frozenset()
