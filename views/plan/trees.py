"""Traverses, rebuilds and renumbers plans."""

from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import fields, is_dataclass, replace
from typing import TypeVar, assert_never, cast

import pyarrow as pa

from ivm.dataflow.expressions import Column, Expression
from views.plan.nodes import (
    AggregateCall,
    Apply,
    Attribute,
    Constant,
    Distinct,
    Except,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Plan,
    Recursive,
    Reduce,
    SortKey,
    TemporalFilter,
    TopK,
    Union,
    Unnest,
    Window,
    WindowCall,
    remembered,
)
from views.plan.scalars import conjuncts, substitute
from views.plan.scalars import walk as walk_scalar


class Numbers:
    """Numbers columns uniquely in one plan."""

    def __init__(self) -> None:
        self._next = 0

    def new(self, name: str, kind: pa.DataType, nullable: bool) -> Attribute:
        """Makes a new column."""
        self._next += 1
        return Attribute(self._next, name, kind, nullable)

    def fresh(self, name: str, like: Expression | Attribute) -> Attribute:
        """Makes a new column of the type and nullability of `like`."""
        return self.new(name, like.type, like.nullable)


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """Lists the plans directly below."""
    match plan:
        case Map() | Filter() | Reduce() | Distinct():
            return (plan.input,)
        case Join() | Apply():
            return (plan.left, plan.right)
        case Get() | Constant() | Recursive():
            return ()
        case TemporalFilter() | TopK() | Window() | Unnest():
            return (plan.input,)
        case Union() | Except():
            return plan.inputs
        case Iterate():
            return tuple(body for _, body in plan.bindings)
        case _:
            assert_never(plan)


def with_inputs(plan: Plan, new: tuple[Plan, ...]) -> Plan:
    """Puts `plan` over other inputs with the same columns."""
    if all(a is b for a, b in zip(new, inputs(plan), strict=True)):
        return plan
    match plan:
        case Get() | Constant() | Recursive():
            return plan
        case Join() | Apply():
            return replace(plan, left=new[0], right=new[1])
        case Union():
            return replace(plan, inputs=new)
        case Except():
            return replace(plan, inputs=(new[0], new[1]))
        case Iterate():
            names = (name for name, _ in plan.bindings)
            return replace(plan, bindings=tuple(zip(names, new, strict=True)))
        case Filter() | TemporalFilter() | Map() | Reduce():
            return replace(plan, input=new[0])
        case Distinct() | TopK() | Window() | Unnest():
            return replace(plan, input=new[0])
        case _:
            assert_never(plan)


def bottom_up(plan: Plan, rule: Callable[[Plan], Plan]) -> Plan:
    """Applies `rule` to every node, inputs first; to one that stands in several places, once."""
    made: dict[int, Plan] = {}

    def up(each: Plan) -> Plan:
        if id(each) not in made:
            made[id(each)] = rule(with_inputs(each, tuple(map(up, inputs(each)))))
        return made[id(each)]

    return up(plan)


def walk(plan: Plan) -> Iterator[Plan]:
    """Yields `plan` and everything below, outside in, and each node once."""
    met: set[int] = set()
    waiting = [plan]
    while waiting:
        each = waiting.pop()
        if id(each) not in met:
            met.add(id(each))
            yield each
            waiting += reversed(inputs(each))


@remembered
def size(plan: Plan) -> int:
    """Counts the nodes of a plan, one that stands in it several times as often as that."""
    return 1 + sum(map(size, inputs(plan)))


@remembered
def subqueries(plan: Plan) -> int:
    """Counts the subqueries and lateral joins of a plan, as `size` counts nodes."""
    return isinstance(plan, Apply) + sum(map(subqueries, inputs(plan)))


def expressions(plan: Plan) -> tuple[Expression, ...]:
    """Lists the expressions that this node itself evaluates."""
    match plan:
        case Filter() | Join():
            return (plan.predicate,)
        case Apply():
            return (plan.predicate, plan.guard)
        case TemporalFilter():
            return plan.bounds
        case Map():
            return tuple(e for _, e in plan.outputs)
        case Reduce():
            return (
                *(k.column for k in plan.keys),
                *(c for call in plan.calls for c in call.reads()),
            )
        case TopK():
            return (*plan.keys, *(o.column for o in plan.order))
        case Unnest():
            return plan.arrays
        case Window():
            read = (c for call in plan.calls for c in call.reads())
            return (*plan.keys, *(o.column for o in plan.order), *read)
        case Get() | Constant() | Recursive() | Distinct() | Union() | Except() | Iterate():
            return ()
        case _:
            assert_never(plan)


def inner_members(plan: Plan) -> tuple[list[Plan], list[Expression]]:
    """Lists the inputs of the inner joins at the top of `plan`, in order, and all conditions."""
    if not (isinstance(plan, Join) and plan.kind == "inner"):
        return [plan], []
    left, left_conditions = inner_members(plan.left)
    right, right_conditions = inner_members(plan.right)
    return left + right, left_conditions + right_conditions + conjuncts(plan.predicate)


@remembered
def numbers_of(plan: Plan) -> frozenset[int]:
    """Collects the numbers of the columns that `plan` has."""
    return frozenset(a.number for a in plan.attributes)


@remembered
def free_columns(plan: Plan) -> Mapping[int, Column]:
    """Finds the columns that `plan` reads but does not make: those of an enclosing query's row."""
    free: dict[int, Column] = {}
    for below in inputs(plan):
        free.update(free_columns(below))
    for expression in expressions(plan):
        free.update({e.index: e for e in walk_scalar(expression) if isinstance(e, Column)})
    visible = {a.number for below in inputs(plan) for a in below.attributes}
    return {number: column for number, column in free.items() if number not in visible}


def replace_free(plan: Plan, by: Mapping[int, Expression]) -> Plan:
    """Makes `plan` read other columns of the enclosing row. Each replacement must be a column
    wherever a grouping, an ordering or an aggregate reads it.
    """
    if by.keys().isdisjoint(free_columns(plan)):
        return plan
    below = with_inputs(plan, tuple(replace_free(i, by) for i in inputs(plan)))
    match below:
        case Filter() | Join():
            return replace(below, predicate=substitute(below.predicate, by))
        case Apply():
            predicate, guard = (substitute(e, by) for e in (below.predicate, below.guard))
            return replace(below, predicate=predicate, guard=guard)
        case TemporalFilter():
            return temporal_filter_by(below, by)
        case Map():
            outputs = tuple((_like(a, e := substitute(old, by)), e) for a, old in below.outputs)
            return replace(below, outputs=outputs)
        case Unnest():
            return replace(below, arrays=tuple(substitute(a, by) for a in below.arrays))
        case Reduce():
            return replace(below, calls=tuple(_moved_call(c, by) for c in below.calls))
        case TopK() | Window():
            order = tuple(_moved_key(o, by) for o in below.order)
            keys = tuple(c for k in below.keys if (c := _moved(k, by)) is not None)
            moved = replace(below, keys=keys, order=order)
            if isinstance(moved, Window):
                return replace(moved, calls=tuple(_moved_window(c, by) for c in moved.calls))
            return moved
        case Get() | Constant() | Recursive() | Distinct() | Union() | Except() | Iterate():
            return below
        case _:
            assert_never(below)


def temporal_filter_by(plan: TemporalFilter, by: Mapping[int, Expression]) -> TemporalFilter:
    """Rewrites the bounds of `plan` in terms of other columns."""
    begin, end = (None if b is None else substitute(b, by) for b in (plan.begin, plan.end))
    return replace(plan, begin=begin, end=end)


def _like(attribute: Attribute, expression: Expression) -> Attribute:
    return replace(attribute, nullable=attribute.nullable or expression.nullable)


def _moved(column: Column | None, by: Mapping[int, Expression]) -> Column | None:
    if column is None or column.index not in by:
        return column
    moved = by[column.index]
    assert isinstance(moved, Column)
    return moved


def _moved_window(call: WindowCall, by: Mapping[int, Expression]) -> WindowCall:
    return replace(
        call,
        argument=_moved(call.argument, by),
        default=_moved(call.default, by),
        other=_moved(call.other, by),
        varies=_moved(call.varies, by),
        where=_moved(call.where, by),
    )


def _moved_key(key: SortKey, by: Mapping[int, Expression]) -> SortKey:
    moved = _moved(key.column, by)
    assert moved is not None
    return replace(key, column=moved)


def _moved_call(call: AggregateCall, by: Mapping[int, Expression]) -> AggregateCall:
    return replace(
        call,
        argument=_moved(call.argument, by),
        other=_moved(call.other, by),
        order=tuple(_moved_key(o, by) for o in call.order),
        where=_moved(call.where, by),
    )


def copied(plan: Plan, numbers: Numbers) -> Plan:
    """Copies `plan` for a second place, with fresh columns where it reads an enclosing row.

    Comparisons with that row become joins (`views.rewrites.decorrelate`), so that columns inside
    the plan come to stand beside those of its other copies.
    """
    free = free_columns(plan).keys()
    return _renumbered(plan, free, {}, numbers) if free else plan


def renamed(plan: Plan, numbers: Numbers) -> tuple[Map, dict[int, Attribute]]:
    """Copies `plan` with fresh columns, and gives the fresh number of each old one."""
    inside = copied(plan, numbers)
    fresh = {a.number: numbers.fresh(a.name, a) for a in plan.attributes}
    below: Plan = inside
    values: tuple[Expression, ...] = tuple(a.column for a in inside.attributes)
    if isinstance(inside, Map) and all(isinstance(e, Column) for _, e in inside.outputs):
        below, values = inside.input, tuple(e for _, e in inside.outputs)
    pairs = zip(plan.attributes, values, strict=True)
    return Map(below, tuple((fresh[old.number], value) for old, value in pairs)), fresh


def ambiguous_columns(plan: Plan) -> frozenset[int]:
    """Finds the columns that both sides of some join have; a predicate cannot tell them apart."""
    found: set[int] = set()
    for node in walk(plan):
        if isinstance(node, Join | Apply):
            found |= numbers_of(node.left) & numbers_of(node.right)
    return frozenset(found)


T = TypeVar("T")


def _renumbered(part: T, kept: Set[int], known: dict[int, int], numbers: Numbers) -> T:
    """A part of a plan with other numbers for all columns but those that are `kept`."""

    def number(old: int, like: Expression | Attribute) -> int:
        if old not in kept and old not in known:
            known[old] = numbers.fresh("", like).number
        return known.get(old, old)

    if isinstance(part, Attribute):
        return replace(part, number=number(part.number, part))
    if isinstance(part, Column):
        return replace(part, index=number(part.index, part))
    if isinstance(part, tuple) and type(part) is tuple:  # not an interval, which is a value
        return cast(T, tuple(_renumbered(each, kept, known, numbers) for each in part))
    if is_dataclass(part) and not isinstance(part, type):
        own = {f.name: getattr(part, f.name) for f in fields(part) if f.init}
        new = {n: _renumbered(value, kept, known, numbers) for n, value in own.items()}
        if isinstance(part, Get):
            new["key"] = tuple(known[n] for n in part.key)
        return replace(part, **new)
    return part
