"""Decorrelation: turns every Apply into a join of two plans that do not read one another.

General unnesting after Neumann and Kemper, "Unnesting Arbitrary Queries" (BTW 2015). With F the
columns of the left that the right side reads, L apply R = L ⋈_F (δ(π_F L) apply R). The right
side is evaluated once for every combination of values that it reads from the left, its *domain*,
and its rows carry these values, so that a join on them replaces the Apply. Where the right side
only compares those values with columns of its own, the columns stand in for the domain, which is
then not computed at all; if that is so of some values only, the domain of all is joined by these.
It suffices that the right side covers the domain: rows for further values find no partner in the
join.

A domain repeats the left side. Where that reads a row further out itself, its inner columns come to
stand for that row's: each copy has its own, or a join of two would compare a column with itself.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

import pyarrow as pa

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from views.plan.failures import may_fail, plan_may_fail
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
    TemporalFilter,
    TopK,
    Union,
    Unnest,
    Window,
)
from views.plan.scalars import (
    TRUE,
    columns_of,
    conjunction,
    conjuncts,
    substitute,
    test,
)
from views.plan.trees import (
    Numbers,
    ambiguous_columns,
    bottom_up,
    copied,
    free_columns,
    inputs,
    numbers_of,
    subqueries,
    temporal_filter_by,
    walk,
    with_inputs,
)
from views.rewrites.asking import guarded, has_a_row, on_demand, where
from views.rewrites.context import Context

Names = Mapping[int, Attribute]


def decorrelate(plan: Plan, context: Context) -> Plan:
    """Rewrites `plan` without Apply."""
    if not subqueries(plan):
        return plan
    plan = _conditions_first(plan)
    plan = bottom_up(plan, lambda p: _eliminate(p, context.numbers) if isinstance(p, Apply) else p)
    assert not ambiguous_columns(plan)
    return plan


def _conditions_first(plan: Plan) -> Plan:
    """`plan` with conditions on the left of an Apply alone tested before the right is evaluated.

    A row that they drop is in no domain: nothing is computed for it, which might also fail.
    """
    if isinstance(plan, Filter) and isinstance(plan.input, Apply):
        apply, own = plan.input, numbers_of(plan.input.left)
        parts = conjuncts(plan.predicate)
        before = [p for p in parts if columns_of(p) <= own]
        after = [p for p in parts if not columns_of(p) <= own]
        if before:
            guard = conjunction(g for g in conjuncts(apply.guard) if g not in before)
            left = Filter(apply.left, conjunction(before))
            filtered = replace(apply, left=left, guard=guard)
            plan = Filter(filtered, conjunction(after)) if after else filtered
    return with_inputs(plan, tuple(_conditions_first(below) for below in inputs(plan)))


def _eliminate(apply: Apply, numbers: Numbers) -> Plan:
    left, right, guard = apply.left, apply.right, apply.guard
    outer = numbers_of(left)
    below, pulled = pull(right, outer)
    if plan_may_fail(below):
        pulled = []
    else:
        right = below
    tested = conjuncts(conjunction([apply.predicate, *pulled]))
    predicate = conjunction(
        condition if guard == TRUE else guarded(condition, guard, outer) for condition in tested
    )
    free = {n: c for n, c in free_columns(right).items() if n in outer}
    is_asked = guard == TRUE and has_a_row(left)
    if not free and (is_asked or not plan_may_fail(right)):
        return Join(apply.kind, left, right, predicate, apply.mark)
    if apply.kind == "left" and predicate == guard == TRUE:
        kept = _outer(left, right)
        if kept is not None:
            return kept
    if apply.kind == "inner":
        lifted = _lift(left, right, guard, numbers)
        if lifted is not None:
            return lifted if predicate == TRUE else Filter(lifted, predicate)
    unnesting, right = _unnesting(_asking(left, guard), free, right, numbers)
    if apply.kind == "inner" and isinstance(right, Reduce) and not right.keys:
        whole = unnesting.with_defaults(left, right, frozenset(unnesting.free), free)
        return whole if predicate == TRUE else Filter(whole, predicate)
    rows, names = unnesting.unnest(right, frozenset(unnesting.free))
    on = conjunction([predicate, *_equal(free, names)])
    kind = "left" if apply.kind == "inner" and guard != TRUE else apply.kind
    return Join(kind, left, rows, on, apply.mark)


def _unnesting(
    asking: Plan, free: Mapping[int, Column], right: Plan, numbers: Numbers
) -> tuple["Unnesting", Plan]:
    """The way out of the right side, which reads a column more of `asking` where it may fail."""
    if not plan_may_fail(right):
        return Unnesting(asking, free, numbers), right
    asked = numbers.fresh("", TRUE)
    reading = on_demand(right, asked.column, frozenset(free))
    if asked.number not in free_columns(reading):
        return Unnesting(asking, free, numbers), right
    kept = tuple((a, a.column) for a in asking.attributes)
    left = Map(asking, (*kept, (asked, TRUE)))
    return Unnesting(left, {**free, asked.number: asked.column}, numbers), reading


def _asking(left: Plan, guard: Expression) -> Plan:
    """Keeps the rows of `left` for which an Apply's right side has to be evaluated."""
    return left if guard == TRUE else Filter(left, guard)


def pull(plan: Plan, outer: frozenset[int]) -> tuple[Plan, list[Expression]]:
    """Takes conditions on `outer` columns out of the top of `plan`, with the columns they need."""
    match plan:
        case Filter():
            below, pulled = pull(plan.input, outer)
            parts = conjuncts(plan.predicate)
            pulled += [p for p in parts if columns_of(p) & outer]
            local = [p for p in parts if not columns_of(p) & outer]
            return (Filter(below, conjunction(local)) if local else below), pulled
        case Map() if not any(columns_of(e) & outer for _, e in plan.outputs):
            below, pulled = pull(plan.input, outer)
            kept = {a.number for a in plan.attributes}
            needed = columns_of(*pulled) - kept
            extra = tuple((a, a.column) for a in below.attributes if a.number in needed)
            return Map(below, plan.outputs + extra), pulled
        case Join() if plan.kind == "inner":
            left, pulled = pull(plan.left, outer)
            right, more = pull(plan.right, outer)
            parts = conjuncts(plan.predicate)
            pulled += more + [p for p in parts if columns_of(p) & outer]
            local = [p for p in parts if not columns_of(p) & outer]
            return Join("inner", left, right, conjunction(local)), pulled
        case _:
            return plan, []


def _lift(left: Plan, right: Plan, guard: Expression, numbers: Numbers) -> Plan | None:
    """Evaluate what stands on top of `right` after the join instead, where that is the same.

    Under a guard it must end in an aggregate over all rows, which has a row wherever that stands.
    """
    if guard != TRUE and not _is_aggregate(right):
        return None
    match right:
        case Map():
            below = Apply("inner", left, right.input, TRUE, guard=guard)
            known = {a.number for a in left.attributes}
            own = [(a, e) for a, e in right.outputs if a.number not in known]
            if guard != TRUE:
                own = [(a.widened(), where(guard, e)) if may_fail(e) else (a, e) for a, e in own]
            inner = _eliminate(below, numbers)
            return Map(inner, (*((a, a.column) for a in left.attributes), *own))
        case Filter():
            inner = _eliminate(Apply("inner", left, right.input, TRUE), numbers)
            return Filter(inner, right.predicate)
        case Unnest():
            return _over(left, right)
        case _:
            return None


def _is_aggregate(plan: Plan) -> bool:
    """Whether `plan` computes something of one aggregate over all rows."""
    while isinstance(plan, Map):
        plan = plan.input
    return isinstance(plan, Reduce) and not plan.keys


def _over(left: Plan, right: Unnest) -> Plan | None:
    """`right`, if it is over one constant row, over the rows of `left` instead."""
    row = right.input
    if not (isinstance(row, Constant) and len(row.rows) == 1):
        return None
    outputs: list[tuple[Attribute, Expression]] = [(a, a.column) for a in left.attributes]
    constants = zip(row.attributes, row.rows[0], strict=True)
    outputs += [(a, Literal(value, a.type)) for a, value in constants]
    return replace(right, input=Map(left, tuple(outputs)))


def _outer(left: Plan, right: Plan) -> Plan | None:
    """`left` with the elements of arrays of its own, or NULL where there are none."""
    if isinstance(right, Map):
        below = _outer(left, right.input)
        known = {a.number for a in left.attributes}
        own = tuple((a.widened(), e) for a, e in right.outputs if a.number not in known)
        kept = tuple((a, a.column) for a in left.attributes)
        return None if below is None else Map(below, (*kept, *own))
    over = _over(left, right) if isinstance(right, Unnest) else None
    if not isinstance(over, Unnest):
        return None
    elements = tuple(e.widened() for e in over.elements)
    return replace(over, outer=True, elements=elements, position=over.position.widened())


def _equal(values: Mapping[int, Expression], names: Names) -> list[Expression]:
    shared = sorted(names.keys() & values.keys())
    return [test("is_not_distinct", values[n], names[n].column) for n in shared]


@dataclass(frozen=True, slots=True)
class Unnesting:
    """One Apply's right side on its way out.

    `left` has the columns `free` that it reads, in each row for which it has to be evaluated.
    """

    left: Plan
    free: Mapping[int, Column]
    numbers: Numbers

    def unnest(self, plan: Plan, wanted: frozenset[int]) -> tuple[Plan, Names]:
        """`plan` for every value of the columns `wanted`, which it reads, and where they are.

        The answer has at least all columns of `plan`, and one for each of `wanted`.
        """
        used = free_columns(plan).keys() & wanted
        if not used:
            return self._cover(plan, {}, wanted)
        simple = self._compared(plan, wanted)
        if simple is not None:
            return simple
        match plan:
            case Filter():
                below, names = self.unnest(plan.input, wanted)
                return Filter(below, substitute(plan.predicate, _columns(names))), names
            case TemporalFilter():
                below, names = self.unnest(plan.input, wanted)
                return temporal_filter_by(replace(plan, input=below), _columns(names)), names
            case Map():
                below, names = self.unnest(plan.input, wanted)
                outputs = [(a, substitute(e, _columns(names))) for a, e in plan.outputs]
                return Map(below, _with(outputs, names.values())), names
            case Unnest():
                below, names = self.unnest(plan.input, wanted)
                arrays = tuple(substitute(a, _columns(names)) for a in plan.arrays)
                return replace(plan, input=below, arrays=arrays), names
            case Reduce() if plan.keys:
                below, names = self.unnest(plan.input, wanted)
                grouped = (*plan.keys, *_added(plan.keys, names))
                return replace(plan, input=below, keys=grouped), names
            case Reduce():
                domain, names = self._domain(wanted)
                return self.with_defaults(domain, plan, wanted, _columns(names)), names
            case Distinct():
                below, names = self.unnest(plan.input, wanted)
                outputs = [(a, a.column) for a in plan.attributes]
                return Distinct(Map(below, _with(outputs, names.values()))), names
            case TopK() | Window():
                below, names = self.unnest(plan.input, wanted)
                keys = (*plan.keys, *(names[n].column for n in sorted(names)))
                return replace(plan, input=below, keys=keys), names
            case Union() | Except():
                return self._branches(plan, wanted)
            case Iterate():
                return self._iterate(plan, wanted)
            case Join():
                return self._join(plan, wanted)
            case Get() | Constant() | Recursive():
                raise AssertionError(f"{type(plan).__name__} reads no outer column")
            case Apply():
                raise AssertionError("an inner Apply is unnested first")
            case _:
                assert_never(plan)

    def with_defaults(
        self, left: Plan, right: Reduce, wanted: frozenset[int], values: Mapping[int, Expression]
    ) -> Plan:
        """`left` with the aggregate `right` over its rows, which for no row are NULL, or 0.

        `values` gives the columns `wanted`, which `right` reads, in terms of `left`.
        """
        below, names = self.unnest(right.input, wanted)
        calls = tuple(
            replace(c, attribute=self.numbers.fresh("", c.attribute)) for c in right.calls
        )
        grouped = Reduce(below, _added((), names), calls)
        joined = Join("left", left, grouped, conjunction(_equal(values, names)))
        outputs = [(a, a.column) for a in left.attributes]
        results = [
            (old.attribute, _default(new)) for old, new in zip(right.calls, calls, strict=True)
        ]
        return Map(joined, (*outputs, *results))

    def _domain(self, wanted: Iterable[int]) -> tuple[Plan, Names]:
        """The combinations of values that a copy of `left` has in the columns `wanted`."""
        rows = copied(self.left, self.numbers)
        own = {a.number: b for a, b in zip(self.left.attributes, rows.attributes, strict=True)}
        names = {n: self.numbers.fresh("outer", self.free[n]) for n in sorted(wanted)}
        columns = tuple((a, own[n].column) for n, a in names.items())
        return Distinct(Map(rows, columns)), names

    def _cover(self, plan: Plan, names: Names, wanted: frozenset[int]) -> tuple[Plan, Names]:
        """`plan`, which has `names` already, with every combination of all of `wanted`.

        It meets those that have its own values: there may be many of the others.
        """
        if wanted <= names.keys():
            return plan, names
        domain, everything = self._domain(wanted)
        columns = {n: everything[n].column for n in names}
        return Join("inner", domain, plan, conjunction(_equal(columns, names))), everything

    def _compared(self, plan: Plan, wanted: frozenset[int]) -> tuple[Plan, Names] | None:
        """The form of `plan` where outer columns stand only in conditions at its top."""
        below, pulled = pull(plan, wanted)
        if free_columns(below).keys() & wanted:
            return None
        local = {a.number: a for a in below.attributes}
        names: dict[int, Attribute] = {}
        for part in pulled:
            for outer, own in _equality(part):
                if outer in wanted and own in local:
                    names.setdefault(outer, local[own])
        covered, names_all = self._cover(below, names, wanted)
        taken = [p for p in pulled if any(n == _number(names, outer) for outer, n in _equality(p))]
        not_null = [
            test("is_not_null", local[own].column)
            for part in taken
            for _, own in _equality(part)
            if own in local and _is_strict(part, local[own])
        ]
        kept = [substitute(p, _columns(names_all)) for p in pulled if p not in taken]
        if isinstance(covered, Join) and covered is not below:
            condition = conjunction([covered.predicate, *not_null, *kept])
            return replace(covered, predicate=condition), names_all
        condition = conjunction([*not_null, *kept])
        return covered if condition == TRUE else Filter(covered, condition), names_all

    def _branches(self, plan: Union | Except, wanted: frozenset[int]) -> tuple[Plan, Names]:
        """Each input for every value, the columns of which are the last ones."""
        used = sorted(free_columns(plan).keys() & wanted)
        outputs = {n: self.numbers.fresh("outer", self.free[n]) for n in used}
        branches = tuple(self._with_values(branch, used) for branch in plan.inputs)
        whole = replace(plan, attributes=(*plan.attributes, *outputs.values()))
        return self._cover(with_inputs(whole, branches), outputs, wanted)

    def _with_values(self, plan: Plan, used: Sequence[int]) -> Plan:
        """`plan` for every value, with exactly its own columns and then those of `used`."""
        below, names = self.unnest(plan, frozenset(used))
        columns = [(a, a.column) for a in plan.attributes]
        outer = [(self.numbers.fresh("outer", names[n]), names[n].column) for n in used]
        return Map(below, tuple(columns + outer))

    def _iterate(self, plan: Iterate, wanted: frozenset[int]) -> tuple[Plan, Names]:
        """A recursion for every value at once: its rows carry the values along."""
        used = sorted(free_columns(plan).keys() & wanted)
        outputs = {n: self.numbers.fresh("outer", self.free[n]) for n in used}
        names = {name for name, _ in plan.bindings}
        bodies = tuple((name, self._body(body, names, used)) for name, body in plan.bindings)
        attributes = (*plan.attributes, *outputs.values())
        return self._cover(replace(plan, bindings=bodies, attributes=attributes), outputs, wanted)

    def _body(self, body: Plan, names: set[str], used: Sequence[int]) -> Plan:
        """A body of a recursion for every value.

        Its base is limited to the domain: for further values it might not end.
        """
        if isinstance(body, Distinct):
            return Distinct(self._body(body.input, names, used))
        if isinstance(body, Union):
            parts = tuple(self._body(part, names, used) for part in body.inputs)
            outer = (self.numbers.fresh("outer", self.free[n]) for n in used)
            return Union(parts, (*body.attributes, *outer))
        rows = self._with_values(self._own_rows(body, names, used), used)
        if any(isinstance(p, Recursive) and p.name in names for p in walk(body)):
            return rows
        domain, values = self._domain(used)
        own = dict(zip(used, rows.attributes[len(body.attributes) :], strict=True))
        same = _equal({n: a.column for n, a in own.items()}, values)
        return Join("semi", rows, domain, conjunction(same))

    def _own_rows(self, body: Plan, names: set[str], used: Sequence[int]) -> Plan:
        """`body` reading, of the recursive `names`, the rows that carry its own values."""

        def carried(plan: Plan) -> Plan:
            if not (isinstance(plan, Recursive) and plan.name in names):
                return with_inputs(plan, tuple(map(carried, inputs(plan))))
            outer = [self.numbers.fresh("outer", self.free[n]) for n in used]
            same = [
                test("is_not_distinct", a.column, self.free[n])
                for a, n in zip(outer, used, strict=True)
            ]
            rows = replace(plan, attributes=(*plan.attributes, *outer))
            columns = tuple((a, a.column) for a in plan.attributes)
            return Map(Filter(rows, conjunction(same)), columns)

        return carried(body)

    def _join(self, plan: Join, wanted: frozenset[int]) -> tuple[Plan, Names]:
        if plan.kind == "full":
            return self._full_join(plan, wanted)
        in_left = free_columns(plan.left).keys() & wanted
        in_right = frozenset(free_columns(plan.right).keys() & wanted)
        on = columns_of(plan.predicate) & wanted
        needed = frozenset(in_left | (on - in_right) if plan.kind == "inner" else wanted)
        left, ours = self.unnest(plan.left, needed) if needed else (plan.left, {})
        right, theirs = self.unnest(plan.right, in_right) if in_right else (plan.right, {})
        names = {**theirs, **ours} if plan.kind == "inner" else ours
        same = [
            test("is_not_distinct", ours[n].column, theirs[n].column)
            for n in sorted(ours.keys() & theirs.keys())
        ]
        predicate = conjunction([substitute(plan.predicate, _columns(names)), *same])
        joined = replace(plan, left=left, right=right, predicate=predicate)
        return self._cover(joined, names, wanted)

    def _full_join(self, plan: Join, wanted: frozenset[int]) -> tuple[Plan, Names]:
        """Both sides for every value; a row of either side alone has its own side's."""
        left, ours = self.unnest(plan.left, wanted)
        right, theirs = self.unnest(plan.right, wanted)
        same = [test("is_not_distinct", ours[n].column, theirs[n].column) for n in sorted(wanted)]
        predicate = conjunction([substitute(plan.predicate, _columns(ours)), *same])
        joined = replace(plan, left=left, right=right, predicate=predicate)
        outputs: list[tuple[Attribute, Expression]] = [(a, a.column) for a in plan.attributes]
        names: dict[int, Attribute] = {}
        for n in sorted(wanted):
            both = (ours[n].widened().column, theirs[n].widened().column)
            value = Call("coalesce", both, both[0].type, True)
            names[n] = self.numbers.fresh("outer", value)
            outputs.append((names[n], value))
        return Map(joined, tuple(outputs)), names


def _columns(names: Names) -> dict[int, Expression]:
    return {n: a.column for n, a in names.items()}


def _added(keys: tuple[Attribute, ...], names: Names) -> tuple[Attribute, ...]:
    known = {k.number for k in keys}
    new = {a.number: a for a in names.values() if a.number not in known}
    return tuple(new.values())


def _with(
    outputs: list[tuple[Attribute, Expression]], more: Iterable[Attribute]
) -> tuple[tuple[Attribute, Expression], ...]:
    known = {a.number for a, _ in outputs}
    new = {a.number: (a, a.column) for a in more if a.number not in known}
    return (*outputs, *new.values())


def _default(call: AggregateCall) -> Expression:
    """Makes the value of an aggregate without a group: 0 for a count, else NULL."""
    column = call.attribute.widened().column
    if call.function != "count":
        return column
    return Call("coalesce", (column, Literal(0, pa.int64())), pa.int64(), False)


def _equality(condition: Expression) -> list[tuple[int, int]]:
    """The pairs of columns, either way round, that `condition` says are equal."""
    if isinstance(condition, Call) and condition.function in ("eq", "is_not_distinct"):
        one, other = condition.arguments
        if isinstance(one, Column) and isinstance(other, Column):
            return [(one.index, other.index), (other.index, one.index)]
    return []


def _number(names: Names, outer: int) -> int | None:
    """The column that stands for `outer`, if one does."""
    return names[outer].number if outer in names else None


def _is_strict(condition: Expression, column: Attribute) -> bool:
    """Whether the equality `condition` fails where `column` is NULL, which that may be."""
    return column.nullable and isinstance(condition, Call) and condition.function == "eq"
