"""Planning of joins: of two arrangements, and of many without intermediate state."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import pyarrow as pa

from ivm.dataflow.expressions import Call, Column
from ivm.dataflow.nodes import Arrange, DeltaJoin, Filter, Get, Join, Lookup, Map, columns
from ivm.dataflow.text import columns_text
from ivm.operators.joins.delta_lookup import Lookup as LookupOperator
from ivm.operators.joins.delta_source import Changes as ChangesOperator
from ivm.operators.joins.join import Join as JoinOperator
from ivm.physical.arrangement import Arranged, places_in, shape_of
from ivm.physical.operation import Names, Operation
from ivm.physical.operations import Evaluate, Rules
from ivm.physical.scopes import Planned
from ivm.planner.planning import Planners, Planning
from ivm.rows.format import Format, followed_by, row_format
from ivm.rows.packing import Packing


@dataclass(frozen=True)
class JoinOperation(Operation, makes=JoinOperator, puts_out_what_it_reads=False):
    """Pairs of the rows of two arrangements; `outputs` are among the key's, left's, right's."""

    left: Arranged
    right: Arranged
    outputs: tuple[tuple[str, int], ...]
    packing: Packing

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.left, self.right, self.packing)

    def text(self, names: Names) -> str:
        sides = f"{names(self.left.trace)} with {names(self.right.trace)}"
        return f"{sides} to {columns_text(i for _, i in self.outputs)}"


@dataclass(frozen=True)
class Changes(Operation, makes=ChangesOperator, puts_out_what_it_reads=False):
    """A delta join's path begins: the new rows of one relation, of columns over all relations."""

    source: Arranged
    later: tuple[Arranged, ...]
    columns: Sequence[int]
    packing: Packing

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.packing, [*self.later])

    def text(self, names: Names) -> str:
        later = ", ".join(names(index.trace) for index in self.later)
        unless = f", unless {later} held nothing before" if later else ""
        return f"of {names(self.source.trace)} to {columns_text(self.columns)}{unless}"


@dataclass(frozen=True)
class LookupOperation(Operation, makes=LookupOperator, puts_out_what_it_reads=False):
    """A delta join's path goes on: partners by their columns `bound`, added to `total`.

    `older`: among the rows that were there before.
    """

    source: Planned
    index: Arranged
    bound: Sequence[int]
    columns: Sequence[int]
    packing: Packing
    older: bool
    total: Planned | None

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.index, self.packing, self.older, self.total)

    def text(self, names: Names) -> str:
        before = " as it was before" if self.older else ""
        added = "" if self.total is None else f", added to {self.total}"
        by = f"by {columns_text(self.bound)} to {columns_text(self.columns)}"
        return f"of {self.source} in {names(self.index.trace)}{before} {by}{added}"


def plan_join(planning: Planning, node: Join) -> Planned:
    """Pairs of two arrangements' rows."""
    node, form, packing = _paired(node)
    left, right = planning.arranged(node.left), planning.arranged(node.right)
    return planning.stage(form, JoinOperation(left, right, node.outputs, packing))


def plan_delta_join(planning: Planning, node: DeltaJoin) -> Planned:
    """The sum of its paths, each a chain of look-ups that add columns to the rows before."""
    total: Planned | None = None
    for start, path in enumerate(node.paths):
        carried = _carried(node, path.lookups)
        found = _changes(planning, node, start, carried[0])
        for i in range(len(path.lookups)):
            found = _looked_up(planning, node, start, i, found, carried[i : i + 2], total)
        total = found
    assert total is not None
    return total


def _changes(planning: Planning, node: DeltaJoin, start: int, carried: Sequence[int]) -> Planned:
    """The changes of relation `start`, as the columns `carried`."""
    path = node.paths[start]
    index = planning.arranged(Arrange(node.relations[start], path.key))
    later = tuple(
        planning.arranged(Arrange(node.relations[lookup.relation], lookup.key))
        for lookup in path.lookups
        if lookup.relation > start
    )
    places = _places(index.node, _first(node, start))
    form = row_format(_fields(node, carried))
    packing = Packing((index.shape.key, index.shape.val), [places[c] for c in carried], form)
    return planning.stage(form, Changes(index, later, carried, packing))


def _looked_up(
    planning: Planning,
    node: DeltaJoin,
    start: int,
    number: int,
    source: Planned,
    columns: Sequence[Sequence[int]],
    total: Planned | None,
) -> Planned:
    """`source` with its partners by a path's look-up `number`; `columns` are those of `source`
    and those wanted. The path's last look-up adds to `total`."""
    carried, wanted = columns
    lookup, last = node.paths[start].lookups[number], number == len(node.relations) - 2
    index = planning.arranged(Arrange(node.relations[lookup.relation], lookup.key))
    others = [c for c in carried if c not in lookup.bound]
    together = followed_by(index.shape.key, row_format(_fields(node, others)))
    given = pa.schema(_fields(node, carried))
    source = _without_nulls(
        planning, source, given, [carried.index(c) for c in lookup.bound], index
    )
    picks = [(0, carried.index(c)) for c in (*lookup.bound, *others)]
    source = planning.packed(source, picks, together)
    places = _places(index.node, _first(node, lookup.relation))
    places |= {c: (0, i) for i, c in enumerate((*lookup.bound, *others))}
    form = row_format(_fields(node, wanted))
    packing = Packing((together, index.shape.val), [places[c] for c in wanted], form)
    older, before = lookup.relation > start, total if last else None
    found = LookupOperation(source, index, lookup.bound, wanted, packing, older, before)
    return planning.stage(form, found)


def _without_nulls(
    planning: Planning, source: Planned, given: pa.Schema, bound: Sequence[int], index: Arranged
) -> Planned:
    """Drops rows with a NULL where the arrangement's key has none: they have no partners."""
    predicates = [
        Call("is_not_null", (Column(i, given.field(i).type, True),), pa.bool_(), False)
        for i, key in zip(bound, list(index.node.schema)[: len(bound)], strict=True)
        if given.field(i).nullable and not key.nullable
    ]
    if not predicates:
        return source
    rules = Rules(given, tuple(predicates), None, planning.interner)
    return planning.stage(source.format, Evaluate(source, rules))


@lru_cache
def _paired(node: Join) -> tuple[Join, Format, Packing]:
    """`node` with keys of one format, the format of its rows, and the moves from pairs to them."""
    form = row_format(node.schema)
    left, right = shape_of(node.left), shape_of(node.right)
    if left.key != right.key:
        node = _meeting(node)
        left, right = shape_of(node.left), shape_of(node.right)
    keys, lefts = len(node.left.key), len(node.left.schema)
    picks = [
        (0, i) if i < keys else (1, i - keys) if i < lefts else (2, i - lefts)
        for _, i in node.outputs
    ]
    return node, form, Packing((left.key, left.val, right.val), picks, form)


def _fields(node: DeltaJoin, numbers: Sequence[int]) -> list[pa.Field]:
    """The columns `numbers` over all relations."""
    fields = [f for relation in node.relations for f in relation.schema]
    return [fields[i] for i in numbers]


def _first(node: DeltaJoin, relation: int) -> int:
    """The number of the relation's first column."""
    return sum(len(before.schema) for before in node.relations[:relation])


def _carried(node: DeltaJoin, lookups: Sequence[Lookup]) -> list[list[int]]:
    """The columns before each look-up and, last, after all of them: the outputs."""
    outputs = [column for _, column in node.outputs]
    carried, needed = [outputs], outputs
    for i in reversed(range(len(lookups))):
        first = _first(node, lookups[i].relation)
        found = range(first, first + len(node.relations[lookups[i].relation].schema))
        needed = [c for c in needed if c not in found and c not in lookups[i].bound]
        needed = list(dict.fromkeys((*lookups[i].bound, *needed)))
        carried.append(needed)
    return carried[::-1]


def _places(node: Arrange, first: int) -> dict[int, tuple[int, int]]:
    """The places of an arrangement's columns, numbered from `first`: (0 key or 1 value, column)."""
    places = places_in(node, range(len(node.schema)))
    return {first + column: place for column, place in enumerate(places)}


def _meeting(node: Join) -> Join:
    """`node` with keys of one format: columns that are nullable on one side only are made alike.

    A NULL meets nothing where the other side has none. So a side of the dataflow's own, as a
    recursive name, leaves such rows out, and the other one can be an arrangement that is shared;
    where that would take a copy of a collection, the other side's column is declared nullable.
    """
    left, right = _nullable_places(node.left), _nullable_places(node.right)
    changed = [
        side for side, only in ((node.left, left - right), (node.right, right - left)) if only
    ]
    if any(isinstance(side.input, Get) for side in changed):
        return Join(
            _declared(node.left, right - left, nullable=True),
            _declared(node.right, left - right, nullable=True),
            node.outputs,
        )
    return Join(
        _declared(node.left, left - right, nullable=False),
        _declared(node.right, right - left, nullable=False),
        node.outputs,
    )


def _nullable_places(node: Arrange) -> frozenset[int]:
    """The places in the key of the columns that may be NULL."""
    schema = node.input.schema
    return frozenset(place for place, i in enumerate(node.key) if schema.field(i).nullable)


def _declared(node: Arrange, places: frozenset[int], *, nullable: bool) -> Arrange:
    """`node` with the key's columns at `places` declared so; rows with NULLs there left out."""
    if not places:
        return node
    own, changed = columns(node.input), {node.key[place] for place in places}
    rows = node.input
    if not nullable:
        tests = [Call("is_not_null", (own[i],), pa.bool_(), False) for i in sorted(changed)]
        rows = Filter(
            rows, tests[0] if len(tests) == 1 else Call("and", tuple(tests), pa.bool_(), False)
        )
    outputs = tuple(
        (field.name, replace(column, nullable=nullable) if i in changed else column)
        for i, (field, column) in enumerate(zip(node.input.schema, own, strict=True))
    )
    return Arrange(Map(rows, outputs), node.key)


PLANNERS: Planners = {Join: plan_join, DeltaJoin: plan_delta_join}
