"""Rendering: each node becomes stages, arrangements are found or made.

A node is rendered once, in the innermost scope whose recursive names it refers to, and entered
into deeper ones. An arrangement that refers to none is the pool's and shared by structure.
"""

from collections.abc import Callable, Sequence

import pyarrow as pa

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
)
from ivm.errors import SchemaMismatch, UnknownCollection, Unsupported
from ivm.expressions import Call, Column, Expression, Literal
from ivm.operators.concat import Concat as ConcatOperator
from ivm.operators.consolidate import Consolidate as ConsolidateOperator
from ivm.operators.due import Due as DueOperator
from ivm.operators.fallible import Evaluate, EvaluateNew, Fallible
from ivm.operators.flat_map import FlatMap as FlatMapOperator
from ivm.operators.flatten import Flatten
from ivm.operators.input import Input
from ivm.operators.join import Join as JoinOperator
from ivm.operators.loop import Collect, Enter, Feedback, Leave, Variable
from ivm.operators.loop import EnterAt as EnterAtOperator
from ivm.operators.operator import Region
from ivm.render.growth import Growth
from ivm.render.joins import Joins
from ivm.render.pieces import Collection, Index, Piece, shape_of
from ivm.render.placement import Placement
from ivm.render.reductions import Reductions
from ivm.render.scopes import Rendered, Scope, free_names, recursive_schemas
from ivm.render.windows import Windows
from ivm.rows.format import Format, followed_by, row_format, string_words
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.program import Program
from ivm.rows.strings import Interner
from ivm.workers.intake import Intake
from ivm.workers.stage import Loop


class Renderer(Windows, Reductions, Joins):
    """Renders one dataflow; `made` lists the pieces of new arrangements, `found` of shared ones."""

    def __init__(
        self,
        name: str,
        root: Region,
        shards: int,
        interner: Interner,
        collections: dict[str, Collection],
        arrangements: dict[Arrange, tuple[Piece, Index]],
        now: int,
        max_rounds: int,
    ) -> None:
        super().__init__(Piece(name), root, shards, interner)
        self.name = name
        self.collections = collections
        self.arrangements = arrangements
        self.now = now
        self.max_rounds = max_rounds
        self.made: list[Piece] = []
        self.found: list[Piece] = []
        self.new_arrangements: dict[Arrange, tuple[Piece, Index]] = {}
        self._numbered = 0
        self._growth = Growth(collections)
        self._placement = Placement(collections)

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
        return self.stage(
            outside.format,
            lambda s: Enter(inner.region, outside.format.words, outside.operators[s]),
        )

    def _render_new(self, node: Node) -> Rendered:
        method = getattr(self, f"_render_{type(node).__name__.lower()}", None)
        if method is None:
            raise Unsupported(f"no operator for {type(node).__name__}")
        rendered: Rendered = method(node)
        return rendered

    # --- arrangements ---

    def arranged(self, node: Arrange) -> Index:
        """The arrangement `node`, found or made, in the scope where it belongs."""
        home = self.scope.home(free_names(node))
        if home.loop is not None:
            return self._arranged_in(node, home)
        return self.shared(node)[1]

    def shared(self, node: Arrange) -> tuple[Piece, Index]:
        """An arrangement that refers to no recursive name, with the piece that maintains it."""
        shared = self.arrangements.get(node) or self.new_arrangements.get(node)
        if shared is None:
            shared = self._arrange_shared(node)
        elif shared[0] not in self.made and shared[0] not in self.found:
            self.found.append(shared[0])
        self.piece.needs.add(shared[0])
        return shared

    def _arranged_in(self, node: Arrange, home: Scope) -> Index:
        if node not in home.indexes:
            scope, self.scope = self.scope, home
            try:
                home.indexes[node] = self._index(node)
            finally:
                self.scope = scope
        return home.indexes[node]

    def _arrange_shared(self, node: Arrange) -> tuple[Piece, Index]:
        outer, scope = self.piece, self.scope
        while self.scope.parent is not None:
            self.scope = self.scope.parent
        self.piece = Piece(self._arrangement_name(node), node)
        try:
            made = self.piece, self._index(node)
        finally:
            self.piece, self.scope = outer, scope
        self.made.append(made[0])
        self.new_arrangements[node] = made
        return made

    def _arrangement_name(self, node: Arrange) -> str:
        keys = ", ".join(node.schema.names[: len(node.key)])
        if isinstance(node.input, Get):
            return f"{node.input.name}[{keys}]"
        self._numbered += 1
        number = "" if self._numbered == 1 else f".{self._numbered}"
        return f"{self.name}{number}[{keys}]"

    def _index(self, node: Arrange) -> Index:
        shape = shape_of(node)
        width = len(node.input.schema)
        picks = [*node.key, *(i for i in range(width) if i not in node.key)]
        source = self.keyed(node.input, node.key, picks, shape.together)
        return Index(node, shape, self.sealed(source, shape.key.words, shape.strings))

    def keyed(self, node: Node, key: Sequence[int], picks: list[int], target: Format) -> Rendered:
        """`node`'s columns `picks` in format `target`, each row in the shard of its columns `key`.

        Rows that lie there already, in an arrangement or as they were put out, are read where they
        lie, and so are such terms of a sum.
        """
        index = self.lying(node, key)
        if index is not None:
            return self.flattened(index, index.packed(picks, target, self.interner), target)
        if self._is_placed(node, key):
            return self.packed(self.render(node), [(0, i) for i in picks], target)
        terms = _signed(node) if isinstance(node, Concat) else []
        if any(self.lying(term, key) or self._is_placed(term, key) for term, _ in terms):
            sources = [self.keyed(term, key, picks, target) for term, _ in terms]
            return self._added(sources, [negative for _, negative in terms], target)
        return self.exchanged(self.render(node), node.schema, key, picks, target)

    def _is_placed(self, node: Node, key: Sequence[int]) -> bool:
        """Whether each row of `node` is put out in the shard of its columns `key`."""
        return self.shards == 1 or self._placement.of(node, self.scope) == tuple(key)

    def lying(self, node: Node, key: Sequence[int]) -> Index | None:
        """An arrangement that has `node`'s rows already, each in the shard of its columns `key`."""
        if isinstance(node, Get) and self.scope.parent is None:
            for piece, index in self._source(node).indexes:
                if self.shards == 1 or index.node.key == tuple(key):
                    self._use(piece)
                    return index
        return None

    # --- nodes without state ---

    def _render_get(self, node: Get) -> Rendered:
        piece, index = self._source(node).indexes[0]
        self._use(piece)
        everything = list(range(len(node.schema)))
        form = row_format(node.schema)
        return self.flattened(index, index.packed(everything, form), form)

    def _source(self, node: Get) -> Collection:
        collection = self.collections.get(node.name)
        if collection is None:
            raise UnknownCollection(f"there is no input or dataflow {node.name!r}")
        if collection.schema != node.schema:
            raise SchemaMismatch(f"{node.name!r} has the schema {collection.schema}")
        return collection

    def _use(self, piece: Piece) -> None:
        """Note that the present piece reads `piece`, which was there before."""
        if piece not in self.made and piece not in self.found:
            self.found.append(piece)
        self.piece.needs.add(piece)

    def flattened(self, index: Index, packing: Packing, form: Format) -> Rendered:
        """An arrangement's rows as a collection."""
        region = self.scope.region
        return self.stage(
            form,
            lambda s: Flatten(region, form.words, self.reader(index.traces[s]), packing),
        )

    def _render_arrange(self, node: Arrange) -> Rendered:
        index = self.arranged(node)
        return self.flattened(index, index.flattened(), row_format(node.schema))

    def _render_constant(self, node: Constant) -> Rendered:
        form, region = row_format(node.schema), self.scope.region
        inputs = self.add_stage(lambda s: Input(region, form.words))
        rows = [dict(zip(node.schema.names, row, strict=True)) for row in node.rows]
        batch = pa.RecordBatch.from_pylist(rows, schema=node.schema)
        diffs = pa.array([1] * len(rows), pa.int64()).to_numpy()
        Intake(inputs[:1], Layout(node.schema), self.interner).feed(batch, self.now, diffs)
        return Rendered(inputs, form)

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
            piece, index = self._source(node.input).indexes[0]
            self._use(piece)
            return self.flattened(index, index.packed(picks, form), form)
        return self.packed(self.render(node.input), [(0, i) for i in picks], form)

    def _evaluated(self, node: Node, outputs: Map | None) -> Rendered:
        """The filters down from `node`, then `outputs`, as one program."""
        predicates = []
        form = row_format(node.schema if outputs is None else outputs.schema)
        while isinstance(node, Filter):
            predicates.append(node.predicate)
            node = node.input
        named = None if outputs is None else outputs.outputs
        operators = self._evaluate(
            node, form, lambda: Program(node.schema, predicates[::-1], named, self.interner)
        )
        self.piece.fallible += operators
        return Rendered(operators, form)

    def _evaluate(
        self, node: Node, form: Format, program: Callable[[], Program]
    ) -> tuple[Fallible, ...]:
        region = self.scope.region
        if isinstance(node, Get) and self.scope.parent is None:
            piece, index = self._source(node).indexes[0]
            self._use(piece)
            rows = index.shape.restored
            return self.add_stage(
                lambda s: EvaluateNew(
                    region, form.words, self.reader(index.traces[s]), rows, program()
                )
            )
        source = self.render(node)
        operators = self.add_stage(
            lambda s: Evaluate(region, form.words, source.operators[s], program())
        )
        for given, operator in zip(source.operators, operators, strict=True):
            if isinstance(given, JoinOperator):
                given.evaluated_by(operator)
        return operators

    def _render_flatmap(self, node: FlatMap) -> Rendered:
        form, source, region = row_format(node.schema), self.render(node.input), self.scope.region
        given, wanted = Layout(node.input.schema), Layout(node.schema)
        operators = self.add_stage(
            lambda s: FlatMapOperator(
                region,
                form.words,
                source.operators[s],
                node.function,
                given,
                wanted,
                self.interner,
            )
        )
        self.piece.fallible += operators
        return Rendered(operators, form)

    def _render_consolidate(self, node: Consolidate) -> Rendered:
        everything = tuple(range(len(node.schema)))
        form, region = row_format(node.schema), self.scope.region
        source = self.keyed(node.input, everything, list(everything), form)
        return self.stage(
            form, lambda s: ConsolidateOperator(region, form.words, source.operators[s])
        )

    def _render_negate(self, node: Negate) -> Rendered:
        return self._sum(node, [(node.input, True)])

    def _render_concat(self, node: Concat) -> Rendered:
        return self._sum(node, _signed(node))

    def _sum(self, node: Node, terms: Sequence[tuple[Node, bool]]) -> Rendered:
        form = row_format(node.schema)
        picks = [(0, i) for i in range(len(node.schema))]
        sources = [self.packed(self.render(term), picks, form) for term, _ in terms]
        return self._added(sources, [negative for _, negative in terms], form)

    def _added(
        self, sources: Sequence[Rendered], negated: Sequence[bool], form: Format
    ) -> Rendered:
        region = self.scope.region
        return self.stage(
            form,
            lambda s: ConcatOperator(
                region,
                form.words,
                tuple(source.operators[s] for source in sources),
                tuple(negated),
            ),
        )

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
        if inner.parent is None or node.into not in inner.variables:
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
        return self.stage(
            form,
            lambda s: EnterAtOperator(
                inner.region, form.words, outside.operators[s], packing, word
            ),
        )

    def _render_iterate(self, node: Iterate) -> Rendered:
        outer = self.scope
        loop = Loop(outer.region, self.max_rounds if node.max_rounds is None else node.max_rounds)
        grows, named = self.only_grows(node), dict(node.bindings)
        inner = self.scope = Scope(loop.region, loop, outer, grows, named)
        region = loop.region
        last = node.max_rounds if node.stops else None
        try:
            schemas = {name: body.schema for name, body in node.bindings}
            for _, body in node.bindings:
                schemas |= {n: s for n, s in recursive_schemas(body).items() if n in schemas}
            for name, schema in schemas.items():
                form = row_format(schema)
                inner.variables[name] = self._variable(form)
            bodies = {name: self.render(body) for name, body in node.bindings}
            for name, body in node.bindings:
                self._feed_back(bodies[name], len(body.schema), inner.variables[name], last)
            result = bodies[node.result]
            collects = self.add_stage(
                lambda s: Collect(region, result.format.words, result.operators[s])
            )
        finally:
            self.scope = outer
        self.append(loop)
        self.piece.loops.append(loop)
        return self.stage(
            result.format, lambda s: Leave(outer.region, result.format.words, collects[s])
        )

    def _variable(self, form: Format) -> Rendered:
        region = self.scope.region
        return self.stage(form, lambda s: Variable(region, form.words))

    def _feed_back(
        self, body: Rendered, width: int, variable: Rendered, rounds: int | None
    ) -> None:
        source = self.packed(body, [(0, i) for i in range(width)], variable.format)
        region, words = self.scope.region, variable.format.words
        self.add_stage(
            lambda s: Feedback(
                region,
                words,
                source.operators[s],
                variable.operators[s],  # type: ignore[arg-type]
                rounds,
            )
        )

    # --- the passing of time ---

    def _render_due(self, node: Due) -> Rendered:
        if self.scope.parent is not None:
            raise Unsupported("rows that wait for their moment in a loop")
        schema, clock = node.events.schema, node.clock.schema
        if schema.field(0).nullable or clock != pa.schema(
            [schema.field(0).with_name(*clock.names)]
        ):
            raise SchemaMismatch(f"moments {schema.field(0)} for a clock of {clock}")
        form = row_format(node.schema)
        others = tuple(range(1, len(schema)))
        moments = followed_by(row_format(list(schema)[:1]), form)
        source = self.keyed(node.events, others, [0, *others], moments)
        clocks, region = self.render(node.clock), self.scope.region
        strings = string_words(schema.types, moments)
        operators = self.add_stage(
            lambda s: DueOperator(
                region, form.words, source.operators[s], clocks.operators, strings
            )
        )
        self.piece.traces += [operator.trace for operator in operators]
        return Rendered(operators, form)

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
