"""Lowers joins of every kind.

With `members` for the left rows that have a partner: semi is `members`, anti is `left - members`,
mark is both with a constant column, and an outer join is the pairs with the rows of anti, padded
with NULLs. `members` is a join with the distinct keys of the right side; or with the right side
itself where its key is unique; or, where a condition needs both rows, a join with the distinct
left rows among the matching pairs.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from ivm.dataflow import combinators
from ivm.dataflow import nodes as df
from ivm.dataflow.expressions import Column, Expression, Literal
from views.lowering.access import Access, arranged_by, exists
from views.lowering.compared import Compared, bounded, compared, others
from views.lowering.delta import delta_joined
from views.lowering.lowered import Lowered, conjoined, moved, projected
from views.plan.equalities import PAIRS, Equalities, Key, equalities
from views.plan.keys import unique_key
from views.plan.nodes import Attribute, Filter, Join, Plan
from views.plan.scalars import FALSE, TRUE, columns_of, conjunction, test
from views.plan.selectivity import FEW, kept, share
from views.plan.stored import stored
from views.plan.trees import numbers_of

Lower = Callable[[Plan, frozenset[int]], Lowered]


@dataclass(frozen=True, slots=True)
class Joins:
    """Lowers joins; `lower` lowers their inputs, `existing` names arrangements there are."""

    lower: Lower
    existing: Collection[str]

    def join(self, plan: Join, needed: frozenset[int]) -> Lowered:
        """Lowers `plan` with at least the columns `needed`."""
        match plan.kind:
            case "inner":
                return self.inner(plan, needed)
            case "semi":
                return self.members(plan, needed)
            case "anti":
                return self.others(plan, needed)
            case "mark":
                return self._mark(plan, needed)
            case _:
                return self._outer(plan, needed)

    def inner(self, plan: Join, needed: frozenset[int]) -> Lowered:
        """Lowers an inner join: the pairs of rows that match."""
        found = delta_joined(plan, needed, self.lower, self.existing)
        if found is not None:
            return found
        plan = _without_nulls(plan)
        parts = self._parts(plan)
        if parts.keys == (PAIRS,):
            comparison = compared(plan, parts.residual, needed)
            if comparison is not None:
                return self._bounded(plan, comparison, needed)
        wanted = needed | columns_of(*parts.residual)
        sides = (
            (plan.left, [k.left for k in parts.keys]),
            (plan.right, [k.right for k in parts.keys]),
        )
        left, right = (self._access(*side, wanted) for side in sides)
        of_left, of_right = kept(plan.left), kept(plan.right)
        if of_left < of_right and _keeps_few(left) and not exists(right.arrange, self.existing):
            left = self._access(*sides[0], wanted, ())
        if of_right < of_left and _keeps_few(right) and not exists(left.arrange, self.existing):
            right = self._access(*sides[1], wanted, ())
        return joined(left, right, wanted).filtered(parts.residual)

    def _bounded(self, plan: Join, found: Compared, needed: frozenset[int]) -> Lowered:
        """Lowers a comparison with the one row of a side; as pairs what it may fail for."""
        side, other = (plan.left, plan.right) if found.of_left else (plan.right, plan.left)
        kept = sorted(needed & numbers_of(side)) or sorted(columns_of(found.own))[:1]
        rows = self.lower(side, frozenset(kept) | columns_of(found.own))
        one = self.lower(other, columns_of(found.bound))
        passed = bounded(found, rows, one, kept)
        failing = others(found, rows)
        if failing is None:
            return passed
        read = columns_of(found.condition)
        wanted = read | set(kept)
        left, right = (
            arranged_by(each, [TRUE], wanted & each.positions.keys(), self.existing)
            for each in (failing, one)
        )
        pairs = joined(left, right, wanted).filtered([found.condition])
        rows_of_both = df.Union((passed.ordered(kept), pairs.ordered(kept)))
        return Lowered(rows_of_both, {n: i for i, n in enumerate(kept)})

    def _access(
        self,
        plan: Plan,
        keys: Sequence[Expression],
        wanted: frozenset[int],
        existing: Collection[str] | None = None,
    ) -> Access:
        """Arranges `plan` by `keys`, with a filter put off where one of `existing` serves then."""
        own = numbers_of(plan)
        lowered = self.lower(plan, (wanted & own) | columns_of(*keys))
        serving = self.existing if existing is None else existing
        return arranged_by(lowered, keys, wanted & own, serving)

    def _parts(self, plan: Join) -> Equalities:
        """The predicate of `plan`; its keys in the order of an arrangement that there is."""
        parts = equalities(plan)
        of_sides = [k.left for k in parts.keys], [k.right for k in parts.keys]
        for side, keys in zip((plan.left, plan.right), of_sides, strict=True):
            collection = stored(side)
            if collection is None:
                continue
            order = collection.arranged_order(keys, self.existing)
            if order is not None:
                return replace(parts, keys=tuple(parts.keys[i] for i in order))
        return parts

    def members(self, plan: Join, needed: frozenset[int]) -> Lowered:
        """Keeps the left rows that have a partner, with the columns of `_left`."""
        parts = self._parts(plan)
        if parts.residual:
            return self._matching(plan, needed, parts)
        left, right = self._left(plan, needed, parts), self._keys(plan, parts)
        return joined(left, Access(right, {}), needed & left.positions.keys())

    def others(self, plan: Join, needed: frozenset[int]) -> Lowered:
        """Keeps the left rows that have no partner."""
        parts = self._parts(plan)
        if parts.residual:
            whole = self._whole(plan, needed, parts)
            found = self._matching(plan, needed, parts)
            node = df.Union((whole.node, df.Negate(found.node)))
            return Lowered(node, whole.positions)
        left = self._left(plan, needed, parts)
        read = {left.positions[n] for n in needed & left.positions.keys()}
        kept = tuple(sorted(read | columns_of(*left.deferred))) or (0,)
        outputs = tuple((left.arrange.schema.field(i).name, i) for i in kept)
        found_node = df.Join(left.arrange, self._keys(plan, parts), outputs)
        difference = df.Union((projected(left.arrange, kept), df.Negate(found_node)))
        return _tested(difference, left, kept)

    def _left(self, plan: Join, needed: frozenset[int], parts: Equalities) -> Access:
        return self._access(plan.left, [k.left for k in parts.keys], needed)

    def _keys(self, plan: Join, parts: Equalities) -> df.Arrange:
        """The keys of the right side, each once, arranged by all their columns."""
        keys = [k.right for k in parts.keys]
        unique = unique_key(plan.right)
        lowered = self.lower(plan.right, columns_of(*keys))
        lowered = lowered.filtered(
            [test("is_not_null", k.right) for k in parts.keys if k.ignores_right_nulls]
        )
        numbers = [k.index for k in keys if isinstance(k, Column)]
        if unique is not None and len(numbers) == len(keys) and unique <= set(numbers):
            access = arranged_by(lowered, keys, numbers, self.existing)
            if not access.deferred:
                return access.arrange
            if not any(k.right.nullable for k in parts.keys):
                return arranged_by(lowered, keys, numbers, ()).arrange
        values = [_null_free(lowered.at(k.right), k) for k in parts.keys]
        outputs = tuple((f"key{i}", value) for i, value in enumerate(values))
        return df.Arrange(df.Distinct(df.Map(lowered.node, outputs)), tuple(range(len(keys))))

    def _whole(self, plan: Join, needed: frozenset[int], parts: Equalities) -> Lowered:
        """The left rows with all columns that deciding about them needs."""
        own = numbers_of(plan.left)
        read = columns_of(*parts.residual, *(k.left for k in parts.keys))
        wanted = (needed | read) & own or frozenset([plan.left.attributes[0].number])
        return self.lower(plan.left, wanted).narrowed(wanted)

    def _matching(self, plan: Join, needed: frozenset[int], parts: Equalities) -> Lowered:
        """`members` where a condition needs both rows."""
        whole = self._whole(plan, needed, parts)
        numbers = frozenset(whole.positions)
        pairs = self.inner(replace(plan, kind="inner", mark=None), numbers)
        by_position = {p: n for n, p in whole.positions.items()}
        order = [by_position.get(i) for i in range(len(whole.node.schema))]
        rows = pairs.ordered([n for n in order if n is not None])
        assert len(rows.schema) == len(whole.node.schema)
        everything = tuple(range(len(whole.node.schema)))
        node = combinators.semijoin(df.Arrange(whole.node, everything), rows)
        return Lowered(node, whole.positions)

    def _mark(self, plan: Join, needed: frozenset[int]) -> Lowered:
        assert plan.mark is not None
        left = sorted(needed & numbers_of(plan.left))
        rows = []
        for side, value in ((self.members, TRUE), (self.others, FALSE)):
            lowered = side(plan, frozenset(left))
            columns = [lowered.at_position(lowered.positions[n]) for n in left]
            outputs = [(lowered.node.schema.field(c.index).name, c) for c in columns]
            rows.append(mapped(lowered.node, (*outputs, (plan.mark.name, value))))
        numbers = (*left, plan.mark.number)
        return Lowered(df.Union(tuple(rows)), {n: i for i, n in enumerate(numbers)})

    def _outer(self, plan: Join, needed: frozenset[int]) -> Lowered:
        """A left or full join: the pairs, and the rows of each preserved side that have none."""
        order = [a for a in plan.attributes if a.number in needed] or [plan.attributes[0]]
        numbers = frozenset(a.number for a in order)
        pairs = self.inner(replace(plan, kind="inner"), numbers)
        rows = [pairs.ordered([a.number for a in order])]
        if plan.kind == "left" and self._at_most_one_partner(plan):
            return self._looked_up(plan, order)
        sides = [replace(plan, kind="anti")]
        if plan.kind == "full":
            sides.append(Join("anti", plan.right, plan.left, plan.predicate))
        for side in sides:
            own = numbers_of(side.left)
            lowered = self.others(side, numbers & own)
            rows.append(_padded(lowered, order))
        return Lowered(df.Union(tuple(rows)), {a.number: i for i, a in enumerate(order)})

    def _at_most_one_partner(self, plan: Join) -> bool:
        """Whether no left row can have two partners, and columns alone decide about that."""
        keys = {k.right.index for k in equalities(plan).keys if isinstance(k.right, Column)}
        unique = unique_key(plan.right)
        return unique is not None and unique <= keys and not equalities(plan).residual

    def _looked_up(self, plan: Join, order: Sequence[Attribute]) -> Lowered:
        """A left join that repeats no left row: those without partner are all less the pairs."""
        own = [a for a in plan.left.attributes if a in order] or [plan.left.attributes[0]]
        numbers = [a.number for a in own]
        pairs = self.inner(
            replace(plan, kind="inner"), frozenset([*numbers, *(a.number for a in order)])
        )
        every = self.lower(plan.left, frozenset(numbers)).ordered(numbers)
        unmatched = df.Union((every, df.Negate(pairs.ordered(numbers))))
        lone = Lowered(unmatched, {n: i for i, n in enumerate(numbers)})
        rows = (pairs.ordered([a.number for a in order]), _padded(lone, order))
        return Lowered(df.Union(rows), {a.number: i for i, a in enumerate(order)})


def _without_nulls(plan: Join) -> Join:
    """`plan` with NULL keys dropped where they would otherwise meet.

    From the left; and from a right side that has no arrangement which others might share.
    """
    keys = [k for k in equalities(plan).keys if k.may_match_nulls]
    if not keys:
        return plan
    left = Filter(plan.left, conjunction(test("is_not_null", k.left) for k in keys))
    if stored(plan.right) is not None:
        return replace(plan, left=left)
    right = Filter(plan.right, conjunction(test("is_not_null", k.right) for k in keys))
    return replace(plan, left=left, right=right)


def _null_free(value: Expression, key: Key) -> Expression:
    """The right side's `value` of `key`, declared not NULL where only such rows are left.

    So that its type is that of the left side's key, which may be a table's own arrangement.
    """
    if isinstance(value, Literal) or key.left.nullable or not value.nullable:
        return value
    return replace(value, nullable=False)


def joined(left: Access, right: Access, wanted: Iterable[int]) -> Lowered:
    """Joins two arrangements, with the columns `wanted`."""
    offset = len(left.arrange.schema) - len(left.arrange.key)
    width = len(left.arrange.key)
    to_pair = {i: i if i < width else i + offset for i in range(len(right.arrange.schema))}
    at = {n: left.positions[n] for n in wanted if n in left.positions}
    at |= {n: to_pair[right.positions[n]] for n in wanted if n in right.positions}
    deferred = [*left.deferred, *(moved(d, to_pair) for d in right.deferred)]
    kept = sorted({*at.values(), *columns_of(*deferred)}) or [0]
    fields = [*left.arrange.schema, *list(right.arrange.schema)[width:]]
    node: df.Node = df.Join(left.arrange, right.arrange, tuple((fields[i].name, i) for i in kept))
    index = {position: i for i, position in enumerate(kept)}
    if deferred:
        node = df.Filter(node, conjoined([moved(d, index) for d in deferred]))
    return Lowered(node, {n: index[position] for n, position in at.items()})


def _keeps_few(access: Access) -> bool:
    """Whether conditions are put off that keep few of the rows."""
    return bool(access.deferred) and share(conjoined(access.deferred)) < FEW


def _tested(node: df.Node, access: Access, kept: Sequence[int]) -> Lowered:
    """`node`, which has the columns `kept` of `access`, with what was put off."""
    index = {position: i for i, position in enumerate(kept)}
    positions = {n: index[p] for n, p in access.positions.items() if p in index}
    if access.deferred:
        node = df.Filter(node, conjoined([moved(d, index) for d in access.deferred]))
    return Lowered(node, positions)


def _padded(lowered: Lowered, order: Sequence[Attribute]) -> df.Node:
    """`lowered` with NULL for the columns of `order` that it does not have."""
    outputs: list[tuple[str, Expression]] = []
    for attribute in order:
        if attribute.number in lowered.positions:
            outputs.append((attribute.name, lowered.at(attribute.column)))
        else:
            outputs.append((attribute.name, Literal(None, attribute.type)))
    return mapped(lowered.node, tuple(outputs))


def mapped(node: df.Node, outputs: Sequence[tuple[str, Expression]]) -> df.Node:
    """Computes `outputs` over `node`; where they only choose columns of a Map, narrows that Map."""
    positions = [e.index for _, e in outputs if isinstance(e, Column)]
    if len(positions) < len(outputs):
        return df.Map(node, tuple(outputs))
    if isinstance(node, df.Map):
        chosen = [node.outputs[p][1] for p in positions]
        return df.Map(node.input, tuple((n, e) for (n, _), e in zip(outputs, chosen, strict=True)))
    return projected(node, tuple(positions))
