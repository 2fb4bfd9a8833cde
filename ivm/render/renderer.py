"""Rendering: each node becomes stages of a physical plan, arrangements are found or made.

A node is rendered once, in the innermost scope whose recursive names it refers to, and entered
into deeper ones. An arrangement that refers to none is the pool's and shared by structure.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pyarrow as pa

from ivm.arrangement_order import arrangement_order
from ivm.dataflow import (
    Arrange,
    Concat,
    Consolidate,
    Constant,
    DeltaJoin,
    Distinct,
    Due,
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
    Threshold,
    TopK,
    Window,
    columns,
    stored,
)
from ivm.errors import SchemaMismatch, UnknownCollection, Unsupported
from ivm.expressions import Call, Column, Expression, Literal
from ivm.operators.capture import CaptureArranged, CaptureRows
from ivm.operators.concat import Concat as ConcatOperator
from ivm.operators.consolidate import Consolidate as ConsolidateOperator
from ivm.operators.due import Due as DueOperator
from ivm.operators.fallible import Evaluate, EvaluateNew
from ivm.operators.flat_map import FlatMap as FlatMapOperator
from ivm.operators.flatten import Flatten
from ivm.operators.input import Input
from ivm.operators.loop import Collect, Enter, Feedback, Leave, Variable
from ivm.operators.loop import EnterAt as EnterAtOperator
from ivm.render.arranged import Arranged, shape_of
from ivm.render.building import Every, LoopPlan, New, Several, Source, TracePlan
from ivm.render.collection import Collection
from ivm.render.foresight import foreseeable
from ivm.render.growth import Growth
from ivm.render.joins import Joins
from ivm.render.physical import PhysicalPlan, PiecePlan
from ivm.render.pieces import Index, Piece
from ivm.render.reductions import Reductions
from ivm.render.scopes import Rendered, Scope
from ivm.render.windows import Windows
from ivm.rows.format import Format, followed_by, row_format, string_words
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.program import Program
from ivm.rows.strings import Interner
from ivm.rows.values import batch_of
from ivm.traversal import free_names, passed_names, reads, recursive_schemas

_MOST = 1 << 62
"""Rounds or updates; no recursion has as many."""


class Bounds(NamedTuple):
    """What a recursion may take of a step, unless it comes to a fixed point."""

    rounds: int
    updates: int  # given to its operators, those of loops within it included

    def __str__(self) -> str:
        return f"{self.rounds:,} rounds, unless it sets others, and {self.updates:,} updates"


class Renderer(Windows, Reductions, Joins):
    """Plans one dataflow over the `collections` and `arrangements` of a pool."""

    def __init__(
        self,
        shards: int,
        interner: Interner,
        collections: Mapping[str, Collection],
        arrangements: Mapping[Arrange, tuple[Piece, Index]],
        bounds: Bounds,
    ) -> None:
        super().__init__(PiecePlan("", owned=True), shards, interner)
        self._collections = collections
        self._arrangements = arrangements
        self._bounds = bounds
        self._found: dict[Arrange, int] = {}
        self._absent: dict[Arrange, None] = {}
        self._made: dict[Arrange, tuple[PiecePlan, Arranged]] = {}
        self._constants: list[tuple[int, Layout, pa.RecordBatch]] = []
        self._numbered = 0
        self._growth = Growth(collections)

    def plan(self, wanted: Arrange) -> PhysicalPlan:
        """A plan of a dataflow that maintains `wanted` and captures its changes.

        Raises UnknownCollection, SchemaMismatch, NotIndexed, Unsupported.
        """
        result = self.arranged(wanted)
        rows = result.shape.restored
        capture = self.whole(Format(rows.words, ()), CaptureArranged, result.trace, rows)
        owner = self._found[wanted] if wanted in self._found else self._made[wanted][0]
        return self._planned(wanted, (owner, result), capture)

    def plan_changes(self, wanted: Node) -> PhysicalPlan:
        """A plan of a dataflow that captures the changes of `wanted` and arranges none of them.

        Raises as `plan` does.
        """
        picks = [(0, i) for i in range(len(wanted.schema))]
        rows = self.packed(self.render(wanted), picks, row_format(wanted.schema))
        return self._planned(wanted, None, self.stage(rows.format, CaptureRows, rows))

    def _planned(
        self, wanted: Node, result: tuple[PiecePlan | int, Arranged] | None, capture: Rendered
    ) -> PhysicalPlan:
        pieces = [*(piece for piece, _ in self._made.values()), self.piece]
        for piece in pieces:
            piece.finish()
        return PhysicalPlan(
            self.depths,
            self.stages,
            self.root,
            pieces,
            self._made,
            result,
            indexing=tuple((n, n.input.name) for n in self._made if isinstance(n.input, Get)),
            capture=capture.stage,
            constants=tuple(self._constants),
            found=tuple(self._found),
            absent=tuple(self._absent),
            growing={name: self._source(name).insert_only for name in reads(wanted)},
            only_grows=self.only_grows(wanted),
            foreseeable=foreseeable(self.stages),
        )

    # --- nodes and scopes ---

    def render(self, node: Node) -> Rendered:
        """The node's collection in the present scope."""
        home = self.scope.home(free_names(node))
        rendered: Rendered | None = self.scope.memo.get(node)
        if rendered is None and home is not self.scope:
            rendered = self._entered(node, home)
        elif rendered is None:
            rendered = self._render_new(node)
        self.scope.memo[node] = rendered
        self.need(rendered)
        return rendered

    def only_grows(self, node: Node) -> bool:
        """Whether no row of `node`, in the present scope, is ever retracted."""
        return self.scope.grows and self._growth.grows(node)

    def _entered(self, node: Node, home: Scope) -> Rendered:
        inner = self.scope
        assert inner.parent is not None
        self.scope = inner.parent
        try:
            outside = self.render(node)
        finally:
            self.scope = inner
        return self.stage(outside.format, Enter, outside)

    def _render_new(self, node: Node) -> Rendered:
        method = getattr(self, f"_render_{type(node).__name__.lower()}", None)
        if method is None:
            raise Unsupported(f"no operator for {type(node).__name__}")
        rendered: Rendered = method(node)
        return rendered

    # --- arrangements ---

    def arranged(self, node: Arrange) -> Arranged:
        """The arrangement `node`, found or made, in the scope where it belongs."""
        home = self.scope.home(free_names(node))
        if home.parent is not None:
            return self._arranged_in(node, home)
        return self._find(node) or self._shared(node)

    def _find(self, node: Arrange) -> Arranged | None:
        """The arrangement `node` of the pool, if there is one."""
        there = self._arrangements.get(node)
        if there is None:
            self._absent[node] = None
            return None
        own = there[1].node  # the same object when the plan is built again, which is found at once
        slot = self._found.setdefault(own if own == node else node, len(self._found))
        self.piece.found[slot] = None
        return Arranged(node, shape_of(node), TracePlan(slot=slot))

    def _shared(self, node: Arrange) -> Arranged:
        """A new arrangement that refers to no recursive name."""
        if node not in self._made:
            self._arrange_shared(node)
        owner, arranged = self._made[node]
        self.piece.made[owner] = None
        return arranged

    def _arranged_in(self, node: Arrange, home: Scope) -> Arranged:
        if node not in home.indexes:
            scope, self.scope = self.scope, home
            try:
                home.indexes[node] = self._index(node)
            finally:
                self.scope = scope
        return home.indexes[node]

    def _arrange_shared(self, node: Arrange) -> None:
        outer, scope = self.piece, self.scope
        while self.scope.parent is not None:
            self.scope = self.scope.parent
        self.piece = self._piece(node)
        self.open.append(self.piece)
        try:
            self._made[node] = self.piece, self._index(node)
        finally:
            self.open.pop()
            self.piece, self.scope = outer, scope

    def _piece(self, node: Arrange) -> PiecePlan:
        """A piece for the arrangement `node`, named by what it indexes."""
        keys = ", ".join(node.schema.names[: len(node.key)])
        if isinstance(node.input, Get):
            return PiecePlan(f"{node.input.name}[{keys}]", arranged=node)
        self._numbered += 1
        number = "" if self._numbered == 1 else f".{self._numbered}"
        return PiecePlan(f"{number}[{keys}]", owned=True, arranged=node)

    def _index(self, node: Arrange) -> Arranged:
        shape = shape_of(node)
        width = len(node.input.schema)
        picks = list(arrangement_order(width, node.key))
        source = self.moved(node.input, picks, shape.together)
        return Arranged(node, shape, self.sealed(source, shape.key.words, shape.strings))

    def moved(self, node: Node, picks: list[int], target: Format) -> Rendered:
        """`node`'s columns `picks` in format `target`, in whatever shards its rows are."""
        if isinstance(node, Get) and self.scope.parent is None:
            index = self._stored(node)
            packing = index.packed(picks, target, self.interner)
            return self.stage(target, Flatten, index.trace, packing)
        return self.packed(self.render(node), [(0, i) for i in picks], target)

    def keyed(
        self,
        node: Node,
        key: Sequence[int],
        picks: list[int],
        target: Format,
        *,
        gathers: bool = True,
    ) -> Rendered:
        """`node`'s columns `picks` in format `target`, each row in the shard of its columns `key`.

        If it `gathers`, few rows are in the first shard instead, for who takes few for all shards
        together. The terms of a sum are exchanged as they come.
        """
        if self.shards == 1:
            return self.moved(node, picks, target)
        terms = _signed(node) if isinstance(node, Concat) else [(node, False)]
        if self.scope.home(free_names(node)) is not self.scope:
            terms = [(node, False)]
        sources, negated = self._terms(node, terms)
        return self.exchanged(sources, negated, node.schema, key, picks, target, gathers)

    def lying(self, node: Node, key: Sequence[int]) -> Arranged | None:
        """An arrangement of `node`'s rows; by their columns `key`, if there are several shards."""
        if not isinstance(node, Get) or self.scope.parent is not None:
            return None
        if self.shards == 1:
            return self._stored(node)
        self._source(node.name, node.schema)
        return self._find(Arrange(node, tuple(key)))

    # --- nodes without state ---

    def _render_get(self, node: Get) -> Rendered:
        index = self._stored(node)
        everything = list(range(len(node.schema)))
        form = row_format(node.schema)
        return self.stage(form, Flatten, index.trace, index.packed(everything, form))

    def _stored(self, node: Get) -> Arranged:
        """The rows of an input or an installed dataflow as the pool keeps them."""
        _, index = self._source(node.name, node.schema).first_index()
        found = self._find(stored(node.name, node.schema, index.node.key))
        assert found is not None
        return found

    def _source(self, name: str, schema: pa.Schema | None = None) -> Collection:
        collection = self._collections.get(name)
        if collection is None:
            raise UnknownCollection(f"there is no input or dataflow {name!r}")
        if schema is not None and collection.schema != schema:
            raise SchemaMismatch(f"{name!r} has the schema {collection.schema}")
        return collection

    def _render_arrange(self, node: Arrange) -> Rendered:
        index = self.arranged(node)
        return self.stage(row_format(node.schema), Flatten, index.trace, index.flattened())

    def _render_constant(self, node: Constant) -> Rendered:
        layout = Layout(node.schema)
        batch = batch_of(node.rows, node.schema)
        inputs = self.stage(row_format(node.schema), Input, False)
        self._constants.append((inputs.stage, layout, batch))
        return inputs

    def _render_filter(self, node: Filter) -> Rendered:
        return self._evaluated(node, None)

    def _render_map(self, node: Map) -> Rendered:
        picks = [e.index for _, e in node.outputs if isinstance(e, Column)]
        if len(picks) == len(node.outputs) and not isinstance(node.input, Filter):
            return self._projected(node, picks)
        return self._evaluated(node.input, node)

    def _projected(self, node: Map, picks: list[int]) -> Rendered:
        """The columns `picks` of the input."""
        form = row_format(node.schema)
        if isinstance(node.input, Get) and self.scope.parent is None:
            index = self._stored(node.input)
            return self.stage(form, Flatten, index.trace, index.packed(picks, form))
        return self.packed(self.render(node.input), [(0, i) for i in picks], form)

    def _evaluated(self, node: Node, outputs: Map | None) -> Rendered:
        """The filters down from `node`, then `outputs`, as one program."""
        predicates = []
        form = row_format(node.schema if outputs is None else outputs.schema)
        while isinstance(node, Filter):
            predicates.append(node.predicate)
            node = node.input
        named = None if outputs is None else outputs.outputs
        given, interner = node.schema, self.interner
        program = New(lambda: Program(given, predicates[::-1], named, interner))
        if isinstance(node, Get) and self.scope.parent is None:
            index = self._stored(node)
            return self.fallible(form, EvaluateNew, index.trace, index.shape.restored, program)
        return self.fallible(form, Evaluate, self.render(node), program)

    def _render_flatmap(self, node: FlatMap) -> Rendered:
        given, wanted = Layout(node.input.schema), Layout(node.schema)
        parts = (self.render(node.input), node.function, given, wanted, self.interner)
        return self.fallible(row_format(node.schema), FlatMapOperator, *parts)

    def _render_consolidate(self, node: Consolidate) -> Rendered:
        everything = tuple(range(len(node.schema)))
        form = row_format(node.schema)
        source = self.keyed(node.input, everything, list(everything), form)
        return self.stage(form, ConsolidateOperator, source)

    def _render_negate(self, node: Negate) -> Rendered:
        return self._sum(node, [(node.input, True)])

    def _render_concat(self, node: Concat) -> Rendered:
        return self._sum(node, _signed(node))

    def _sum(self, node: Node, terms: Sequence[tuple[Node, bool]]) -> Rendered:
        return self._added(*self._terms(node, terms), row_format(node.schema))

    def _terms(
        self, node: Node, terms: Sequence[tuple[Node, bool]]
    ) -> tuple[list[Rendered], list[bool]]:
        """The `terms` of which `node` is the sum, in its format, and which are subtracted."""
        form = row_format(node.schema)
        picks = [(0, i) for i in range(len(node.schema))]
        sources = [self.packed(self.render(term), picks, form) for term, _ in terms]
        return sources, [negative for _, negative in terms]

    def _added(
        self, sources: Sequence[Rendered], negated: Sequence[bool], form: Format
    ) -> Rendered:
        terms = Several([Source(source.stage) for source in sources])
        return self.stage(form, ConcatOperator, terms, tuple(negated))

    # --- joins ---

    def _render_join(self, node: Join) -> Rendered:
        return self.join(node)

    def _render_deltajoin(self, node: DeltaJoin) -> Rendered:
        return self.delta_join(node)

    # --- recursion ---

    def _render_recursive(self, node: Recursive) -> Rendered:
        return self.scope.variables[node.name]

    def _render_enterat(self, node: EnterAt) -> Rendered:
        inner = self.scope
        from_inside = free_names(node.input) & inner.bodies.keys()
        if inner.parent is None or node.into not in inner.variables or from_inside:
            raise Unsupported(f"rows can enter the loop of {node.into!r} from outside of it only")
        named: list[tuple[str, Expression]] = [
            (f.name, column) for f, column in zip(node.schema, columns(node.input), strict=True)
        ]
        zero = Literal(0, pa.int64())
        priority = Call("coalesce", (node.priority, zero), pa.int64(), False)
        self.scope = inner.parent
        try:
            outside = self.render(Map(node.input, (*named, ("priority", priority))))
        finally:
            self.scope = inner
        form, word = row_format(node.schema), outside.format.places[-1].word
        packing = Packing((outside.format,), [(0, i) for i in range(len(named))], form)
        return self.stage(form, EnterAtOperator, outside, packing, word)

    def _render_iterate(self, node: Iterate) -> Rendered:
        outer, grows, depth = self.scope, self.only_grows(node), self.scope.depth + 1
        inner = Scope(len(self.depths), depth, [], outer, grows, dict(node.bindings))
        self.depths.append(depth)
        self.scope = inner
        bound = self._bounds.rounds if node.max_rounds is None else node.max_rounds
        rounds = min(bound, _MOST)
        last = rounds if node.stops and node.max_rounds is not None else None
        try:
            schemas = {name: body.schema for name, body in node.bindings}
            for _, body in node.bindings:
                schemas |= {n: s for n, s in recursive_schemas(body).items() if n in schemas}
            for name, schema in schemas.items():
                inner.variables[name] = self.stage(row_format(schema), Variable)
            bodies = {name: self.render(body) for name, body in node.bindings}
            for name, body in node.bindings:
                self._feed_back(body, bodies[name], inner.variables[name], last)
            result = bodies[node.result]
            collected = self.stage(result.format, Collect, result)
        finally:
            self.scope = outer
        assert inner.body is not None
        loop = LoopPlan(
            outer.region, inner.region, inner.body, rounds, min(self._bounds.updates, _MOST)
        )
        self.piece.loops.append(self.add(loop))
        return self.stage(result.format, Leave, collected)

    # Where nothing in a cycle sums up, terms that cancel would go round for ever in two shards.
    def _feed_back(
        self, node: Node, body: Rendered, variable: Rendered, rounds: int | None
    ) -> None:
        form, schema = variable.format, node.schema
        everything = list(range(len(schema)))
        if self.shards > 1 and passed_names(node) & self.scope.bodies.keys():
            source = self.exchanged([body], [False], schema, everything, everything, form, True)
        else:
            source = self.packed(body, [(0, i) for i in everything], form)
        self.stage(form, Feedback, source, variable, rounds)

    # --- the passing of time ---

    def _render_due(self, node: Due) -> Rendered:
        if self.scope.parent is not None:
            raise Unsupported("rows that wait for their moment in a loop")
        schema, clock = node.events.schema, node.clock.schema
        if schema.field(0).nullable or clock != pa.schema(
            [schema.field(0).with_name(name) for name in clock.names[:1]]
        ):
            raise SchemaMismatch(f"moments {schema.field(0)} for a clock of {clock}")
        form = row_format(node.schema)
        others = tuple(range(1, len(schema)))
        moments = followed_by(row_format(list(schema)[:1]), form)
        source = self.keyed(node.events, others, [0, *others], moments, gathers=False)
        clocks, strings = Every(self.render(node.clock).stage), string_words(schema.types, moments)
        due = self.stage(form, DueOperator, source, clocks, strings)
        self.piece.traces.append(due.stage)
        self.piece.strings = self.piece.strings or bool(strings)
        return due

    # --- reductions ---

    def _render_distinct(self, node: Distinct) -> Rendered:
        return self.threshold(node.input, 1)

    def _render_threshold(self, node: Threshold) -> Rendered:
        return self.threshold(node.input, node.limit)

    def _render_topk(self, node: TopK) -> Rendered:
        return self.top_k(node)

    def _render_reduce(self, node: Reduce) -> Rendered:
        return self.reduce(node)

    # --- windows ---

    def _render_window(self, node: Window) -> Rendered:
        return self.window(node)


def _signed(node: Concat) -> list[tuple[Node, bool]]:
    """The terms of a sum, each with whether it is subtracted."""
    return [(n.input, True) if isinstance(n, Negate) else (n, False) for n in node.inputs]
