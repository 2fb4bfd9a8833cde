"""Rendering of reductions: which operator, and which format lets it stop early.

At the root sums take a state for each group and selections walk ordered values; inside loops both
need the join closure of times, which `ivm.operators.reduce` provides for any logic.
"""

from collections.abc import Callable

import pyarrow as pa

from ivm.dataflow import (
    Aggregate,
    Arrange,
    Distinct,
    Join,
    Map,
    Node,
    Order,
    Reduce,
    TopK,
    columns,
    project,
)
from ivm.operators.accumulate import Accumulate
from ivm.operators.accumulation import Accumulation
from ivm.operators.fallible import Settle
from ivm.operators.known import Known
from ivm.operators.logic import Logic
from ivm.operators.ordering import Ordering
from ivm.operators.reduce import Reduce as ReduceOperator
from ivm.operators.select import Select
from ivm.operators.selection import Selection
from ivm.render.mechanics import Mechanics
from ivm.render.scopes import Rendered
from ivm.rows.format import (
    Format,
    followed_by,
    is_interned,
    ordered_format,
    row_format,
    string_words,
)
from ivm.rows.packing import Packing
from ivm.rows.strings import pinned_word_of
from ivm.trace.trace import Trace

OVERFLOW = b"numeric value out of range in a sum or average"


class Reductions(Mechanics):
    """The part of the renderer that knows reductions; `render` and `only_grows` are the whole's."""

    render: Callable[[Node], Rendered]
    only_grows: Callable[[Node], bool]

    def threshold(self, node: Node, limit: int | None) -> Rendered:
        """The whole row is the key, and the first `limit` of its copies are kept."""
        picks = tuple(range(len(node.schema)))
        if limit == 1 and picks and self.only_grows(node):
            return self._known(node)
        return self._selected(node, picks, (), limit, 0, node.schema, picks)

    def _known(self, node: Node) -> Rendered:
        """Every row once, of a collection that only grows."""
        form, region = row_format(node.schema), self.scope.region
        picks = list(range(len(node.schema)))
        source = self.exchanged(self.render(node), node.schema, tuple(picks), picks, form)
        strings = string_words(node.schema.types, form)
        operators = self.add_stage(
            lambda s: Known(region, form.words, source.operators[s], strings)
        )
        self.piece.groups += [operator.groups for operator in operators]
        return Rendered(operators, form)

    def top_k(self, node: TopK) -> Rendered:
        """Values ordered by the order's columns, then by the others, ascending."""
        others = [i for i in range(len(node.schema)) if i not in node.key]
        order = {o.column: o for o in reversed(node.order) if o.column in others}
        ordering = [order[o.column] for o in node.order if o.column in order]
        unique = list(dict.fromkeys(ordering))
        unique += [Order(i) for i in others if i not in order]
        places = [*node.key, *(o.column for o in unique)]
        picks = tuple(places.index(i) for i in range(len(node.schema)))
        return self._selected(
            node.input, node.key, tuple(unique), node.limit, node.offset, node.schema, picks
        )

    def reduce(self, node: Reduce) -> Rendered:
        """Linear aggregates together, each min and max by itself, joined on the key."""
        linear = tuple(a for a in node.aggregates if a.function not in ("min", "max"))
        extremes = tuple(a for a in node.aggregates if a.function in ("min", "max"))
        if not node.aggregates:
            return self.render(Distinct(project(node.input, node.key)))
        if not extremes:
            return self._accumulated(node)
        if len(node.aggregates) == 1:
            return self._extreme(node, extremes[0])
        parts = [Reduce(node.input, node.key, linear)] if linear else []
        parts += [Reduce(node.input, node.key, (a,)) for a in extremes]
        return self.render(_joined(node, parts))

    def _extreme(self, node: Reduce, a: Aggregate) -> Rendered:
        assert a.column is not None
        value = project(node.input, (*node.key, a.column))
        keys = tuple(range(len(node.key)))
        order = (Order(len(keys), descending=a.function == "max"),)
        return self._selected(value, keys, order, 1, 0, node.schema, (*keys, len(keys)))

    def _selected(
        self,
        node: Node,
        key: tuple[int, ...],
        order: tuple[Order, ...],
        limit: int | None,
        offset: int,
        schema: pa.Schema,
        picks: tuple[int, ...],
    ) -> Rendered:
        """The selected rows of each group; column i is `picks[i]` of (key, ordered columns)."""
        given = node.schema
        key_format = row_format([given.field(i) for i in key])
        fields = [given.field(o.column) for o in order]
        values = ordered_format(
            fields, [o.descending for o in order], [o.nulls_first for o in order], prefixed=True
        )
        strings = [is_interned(f.type) for f in fields]
        taken = [*key, *(o.column for o in order)]
        together = followed_by(key_format, values)
        source = self.exchanged(self.render(node), given, key, taken, together)
        types = [given.field(i).type for i in taken]

        def logic() -> Logic:
            return Selection(Ordering(values, strings, self.interner), offset, limit)

        if self.scope.depth > 1:
            reduced = self._in_loop(source, key_format.words, logic, types, together)
        else:
            traces = self.sealed(source, key_format.words, types)
            reduced = self._at_root(traces, logic, together)
        return self.packed(reduced, [(0, i) for i in picks], row_format(schema))

    def _at_root(
        self, traces: tuple[Trace, ...], logic: Callable[[], Logic], form: Format
    ) -> Rendered:
        """The selection from what `traces` hold."""
        region = self.scope.region
        operators = self.add_stage(
            lambda s: Select(region, form.words, self.reader(traces[s]), logic())
        )
        self.piece.groups += [operator.debts for operator in operators]
        return Rendered(operators, form)

    def _in_loop(
        self,
        source: Rendered,
        key_words: int,
        logic: Callable[[], Logic],
        types: list[pa.DataType],
        form: Format,
    ) -> Rendered:
        """The same in a loop."""
        region, strings = self.scope.region, string_words(types, source.format)
        operators = self.add_stage(
            lambda s: ReduceOperator(
                region, form.words, source.operators[s], key_words, logic(), strings
            )
        )
        self.piece.curves += [operator.curves for operator in operators]
        return Rendered(operators, form)

    def _accumulated(self, node: Reduce) -> Rendered:
        given, region = node.input.schema, self.scope.region
        key_format = row_format([given.field(i) for i in node.key])
        used = sorted({a.column for a in node.aggregates if a.column is not None})
        fields = [given.field(i) for i in used]
        plain = [False] * len(used)
        values = ordered_format(fields, plain, plain)
        outputs = [pa.field(a.name, a.type, a.nullable) for a in node.aggregates]
        plain = [False] * len(outputs)
        results = ordered_format(outputs, plain, plain)
        together = followed_by(key_format, values)
        source = self.exchanged(
            self.render(node.input), given, node.key, [*node.key, *used], together
        )
        moved = [_moved(a, used) for a in node.aggregates]
        types = [given.field(i).type for i in (*node.key, *used)]
        strings = string_words(types[: len(node.key)], key_format)
        overflow = pinned_word_of(self.interner, OVERFLOW)
        form = Format(key_format.words + 1 + results.words, ())

        def logic() -> Accumulation:
            return Accumulation(moved, fields, values, results, overflow)

        if self.scope.depth == 1:
            operators = self.add_stage(
                lambda s: Accumulate(
                    region, form.words, source.operators[s], key_format.words, logic(), strings
                )
            )
            self.piece.groups += [operator.groups for operator in operators]
            reduced = Rendered(operators, form)
        else:
            reduced = self._in_loop(source, key_format.words, logic, types, form)
        return self._settled(node, reduced, key_format, results)

    def _settled(
        self, node: Reduce, reduced: Rendered, key_format: Format, results: Format
    ) -> Rendered:
        form, region = row_format(node.schema), self.scope.region
        picks = [(0, i) for i in range(len(node.key))]
        picks += [(1, i) for i in range(len(node.aggregates))]
        packing = Packing((key_format, results), picks, form)
        operators = self.add_stage(
            lambda s: Settle(region, form.words, reduced.operators[s], key_format.words, packing)
        )
        self.piece.fallible += operators
        return Rendered(operators, form)


def _moved(a: Aggregate, used: list[int]) -> Aggregate:
    column = None if a.column is None else used.index(a.column)
    return Aggregate(a.function, column, a.name, a.type, a.nullable)


def _joined(node: Reduce, parts: list[Reduce]) -> Node:
    """The parts' aggregates side by side, in the order of `node`."""
    key = tuple(range(len(node.key)))
    whole: Node = parts[0]
    for part in parts[1:]:
        names = [f.name for f in whole.schema] + [a.name for a in part.aggregates]
        whole = Join(
            Arrange(whole, key), Arrange(part, key), tuple((n, i) for i, n in enumerate(names))
        )
    order = [a for part in parts for a in part.aggregates]
    given = columns(whole)
    outputs = [(node.schema.field(i).name, given[i]) for i in key]
    outputs += [(a.name, given[len(key) + order.index(a)]) for a in node.aggregates]
    return Map(whole, tuple(outputs))
