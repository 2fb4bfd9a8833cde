"""Distribution: exchanges in front of what needs equal keys in one process of a cluster.

All processes run one dataflow, each on the rows that it owns. A collection is *placed* by columns
if each row is in the process that owns their values; a reduction by a key, or a sum of equal rows,
can be done where it is placed by some of that key's columns, and an arrangement where it is placed
by exactly its key, so that both sides of a join meet. Elsewhere an exchange stands in front. Where
one side of a join is small, all processes have it whole, and the other side stays where it is
(`ivm.dataflow.copied_sides`).

>>> import pyarrow as pa
>>> from ivm.dataflow.nodes import Distinct, Get, project
>>> row = pa.schema([("id", pa.int64()), ("city", pa.string())])
>>> node, placement = distributed(project(Get("guests", row), (1,)), {"guests": (0,)})
>>> placement is None
True
>>> node, placement = distributed(Distinct(project(Get("guests", row), (1,))), {"guests": (0,)})
>>> type(node.input).__name__, placement
('Exchange', (0,))
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa

from ivm.dataflow.arrangement_order import arrangement_order
from ivm.dataflow.copied_sides import CopiedSides, Copying, Placement, everywhere
from ivm.dataflow.exchange_node import Exchange
from ivm.dataflow.expressions import Call, Column, Expression
from ivm.dataflow.loop_nodes import passed_names
from ivm.dataflow.nodes import (
    Arrange,
    Consolidate,
    Constant,
    DeltaJoin,
    Distinct,
    EnterAt,
    Filter,
    FlatMap,
    Get,
    Iterate,
    Join,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    TemporalFilter,
    Threshold,
    TopK,
    Union,
    Window,
)
from ivm.dataflow.partial_sums import adds_up, combined, narrowed, sum_of_parts, summed_columns
from ivm.dataflow.traversal import walk
from ivm.errors import Unsupported

Placed = tuple[Node, Placement]


def distributed(
    node: Node, placed: Mapping[str, tuple[int, ...]], copying: Copying | None = None
) -> Placed:
    """Put exchanges into `node`, over collections that are `placed` by columns, and say by which.

    Sides of joins are copied as `copying` says. Raises Unsupported for a kind of node that cannot
    be distributed.
    """
    copied = None if copying is None else CopiedSides(walk(node, _children), copying)
    return _Distribution(placed, {}, copied).of(node)


def delivered(
    node: Node, placed: Mapping[str, tuple[int, ...]], copying: Copying | None = None
) -> Node:
    """Distribute `node` so that equal rows are in one process, which can add up their diffs."""
    return together(distributed(node, placed, copying), range(len(node.schema)))[0]


def together(given: Placed, key: Sequence[int]) -> Placed:
    """Bring the rows with equal columns `key` to one process, unless they are."""
    _, placement = given
    if placement is not None and set(placement) <= set(key):
        return given
    return exactly(given, tuple(key))


def exactly(given: Placed, key: tuple[int, ...]) -> Placed:
    """Place the rows by exactly `key`."""
    node, placement = given
    return given if placement == key else (Exchange(node, key), key)


class _Distribution:
    """Distributes nodes over `placed` collections, and recursive `names` placed as is said."""

    def __init__(
        self,
        placed: Mapping[str, tuple[int, ...]],
        names: Mapping[str, Placement],
        copied: CopiedSides | None,
    ) -> None:
        self._placed = placed
        self._names = names
        self._copied = copied
        self._made: dict[Node, Placed] = {}

    def of(self, node: Node) -> Placed:
        """The node with exchanges, and the placement of its rows."""
        if node not in self._made:
            self._made[node] = self._of(node)
        return self._made[node]

    def _of(self, node: Node) -> Placed:
        match node:
            case Get():
                return node, self._placed.get(node.name)
            case Constant():
                everything = tuple(range(len(node.schema)))
                return Exchange(node, everything, everywhere=True), everything
            case Recursive():
                return node, self._names[node.name]
            case Exchange():
                return self.of(node.input)
            case Filter() | Negate() | EnterAt():
                below, placement = self.of(node.input)
                return replace(node, input=below), placement
            case Map():
                return self._map(node)
            case FlatMap():
                return replace(node, input=self.of(node.input)[0]), None
            case Union():
                return self._union(node)
            case Consolidate() | Distinct() | Threshold():
                below, placement = together(self.of(node.input), range(len(node.schema)))
                return replace(node, input=combined(below, ())), placement
            case Reduce():
                return self._reduced(node)
            case TopK() | Window():
                below, placement = together(self.of(node.input), node.key)
                return replace(node, input=below), placement
            case Arrange():
                made, placement, _ = self._arranged(node)
                return made, placement
            case Join():
                return self._join(node)
            case DeltaJoin():
                return self.of(in_pairs(node))
            case TemporalFilter():
                return self._temporal_filter(node)
            case Iterate():
                return self._iterate(node)
            case _:
                raise Unsupported(f"a {type(node).__name__} on several processes")

    def _map(self, node: Map) -> Placed:
        below, placement = self.of(node.input)
        made = replace(node, input=below)
        outputs = [e.index if isinstance(e, Column) else None for _, e in node.outputs]
        return made, _moved(placement, outputs)

    def _union(self, node: Union) -> Placed:
        terms = [self.of(term) for term in node.inputs]
        placements = {placement for _, placement in terms}
        placement = placements.pop() if len(placements) == 1 else None
        return replace(node, inputs=tuple(term for term, _ in terms)), placement

    def _arranged(self, node: Arrange) -> tuple[Arrange, Placement, bool]:
        """The arrangement, its placement, and whether its rows stay where they are."""
        below, placement = self.of(node.input)
        moved = replace(node, input=exactly((below, placement), node.key)[0])
        if self._copied is not None and self._copied.stays(node, placement, moved):
            order = arrangement_order(len(node.schema), node.key)
            return replace(node, input=below), _moved(placement, order), True
        return moved, tuple(range(len(node.key))), False

    def _reduced(self, node: Reduce) -> Placed:
        """Without a key all rows would go to one process: there each one sends its own sums."""
        given = self.of(node.input)
        if given[1] != node.key == () and all(adds_up(node, a) for a in node.aggregates):
            given, node = (replace(node, input=given[0]), None), sum_of_parts(node)
        node = replace(node, input=given[0])
        below, placement = together(given, node.key)
        if below is not given[0] and summed_columns(node) is not None:
            node = narrowed(node)
            below, placement = exactly((node.input, None), node.key)
            below = combined(below, summed_columns(node) or ())
        assert placement is not None
        return replace(node, input=below), tuple(map(node.key.index, placement))

    def _join(self, node: Join) -> Placed:
        """Pair rows with the owners of their keys, or a side that stays with a copy of the other.

        The columns that pairs consist of are the left side's, and then the right one's others.
        """
        (left, placement, left_stays), (right, of_right, right_stays) = map(
            self._arranged, (node.left, node.right)
        )
        if left_stays:
            right = self._copy(node.right)
        elif right_stays:
            lefts, keys = len(left.schema), len(left.key)
            candidates = [*range(keys), *range(lefts, lefts + len(right.schema) - keys)]
            placement = None if of_right is None else tuple(candidates[i] for i in of_right)
            left = self._copy(node.left)
        made = Join(left, right, node.outputs)
        return made, _moved(placement, [i for _, i in node.outputs])

    def _copy(self, node: Arrange) -> Arrange:
        return replace(node, input=everywhere(self.of(node.input)[0]))

    def _temporal_filter(self, node: TemporalFilter) -> Placed:
        events, placement = self.of(node.events)
        made = replace(node, events=events, clock=Exchange(self.of(node.clock)[0], None))
        return made, _moved(placement, range(1, len(node.events.schema)))

    def _iterate(self, node: Iterate) -> Placed:
        """Take names to be placed as their bodies are found to be, where that is a fixed point."""
        assumed: dict[str, Placement] = dict.fromkeys((name for name, _ in node.bindings), None)
        bodies = self._bodies(node, assumed)
        assumed = {name: placement for name, (_, placement) in bodies.items()}
        while True:
            bodies = self._bodies(node, assumed)
            wrong = [n for n, p in assumed.items() if p is not None and bodies[n][1] != p]
            if not wrong:
                break
            assumed |= dict.fromkeys(wrong, None)
        bindings = tuple((name, body) for name, (body, _) in bodies.items())
        return replace(node, bindings=bindings), bodies[node.result][1]

    def _bodies(self, node: Iterate, assumed: Mapping[str, Placement]) -> dict[str, Placed]:
        inner = _Distribution(self._placed, {**self._names, **assumed}, self._copied)
        bodies = {name: inner.of(body) for name, body in node.bindings}
        for name, body in node.bindings:
            if passed_names(body) & assumed.keys():
                # Terms that cancel would go round for ever in two processes.
                bodies[name] = together(bodies[name], range(len(body.schema)))
        return bodies


def _moved(placement: Placement, outputs: Sequence[int | None]) -> Placement:
    """The placement of rows whose columns are those of `outputs`; None if one has gone."""
    if placement is None or not set(placement) <= set(outputs):
        return None
    return tuple(map(outputs.index, placement))


def _children(node: Node) -> Sequence[Node]:
    """The children of a node; of a delta join, the joins of two that take its place."""
    return [in_pairs(node)] if isinstance(node, DeltaJoin) else node.children


def in_pairs(node: DeltaJoin) -> Node:
    """The same join, of one relation after another: each look-up has its key's owners.

    Raises Unsupported where a look-up asks for one column twice.
    """
    rows, (path, *_) = node.relations[0], node.paths
    starts = [0]
    for relation in node.relations:
        starts.append(starts[-1] + len(relation.schema))
    at = {column: column for column in range(starts[1])}
    for lookup in path.lookups:
        bound = tuple(at[column] for column in lookup.bound)
        if len(set(bound)) < len(bound):
            raise Unsupported("a look-up that asks for one column twice, on several processes")
        left, right = Arrange(rows, bound), Arrange(node.relations[lookup.relation], lookup.key)
        lefts, others = len(left.schema), arranged_others(right)
        rows = Join(left, right, tuple((f"c{i}", i) for i in range(lefts + len(others))))
        place = {column: i for i, column in enumerate((*bound, *arranged_others(left)))}
        at = {column: place[i] for column, i in at.items()}
        first = starts[lookup.relation]
        at |= {first + column: lefts + i for i, column in enumerate(others)}
        at |= {first + column: i for i, column in enumerate(lookup.key)}
    return _declared(rows, [at[column] for _, column in node.outputs], node.schema)


def arranged_others(node: Arrange) -> list[int]:
    """The columns of an arrangement's input that are not of its key, in order."""
    return [i for i in range(len(node.input.schema)) if i not in node.key]


def _declared(node: Node, picks: Sequence[int], schema: pa.Schema) -> Node:
    """The columns `picks` of `node` as those of `schema`: a NULL has not met what is never NULL."""
    outputs: list[tuple[str, Expression]] = []
    for i, field in zip(picks, schema, strict=True):
        given = node.schema.field(i).nullable
        if given and not field.nullable:
            column = Column(i, field.type, True)
            node = Filter(node, Call("is_not_null", (column,), pa.bool_(), False))
        outputs.append((field.name, Column(i, field.type, field.nullable)))
    return Map(node, tuple(outputs))
