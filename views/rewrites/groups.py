"""Groups that are asked for: a grouped input of inner joins keeps only groups that find a partner.

Where the grouping key is held equal to the unique key of another input, of which conditions have
taken rows, the rows of other groups are dropped before they are grouped, by a semijoin: it drops
whole groups, so that those that are left are what they were. With a sum by part joined with the
parts of one brand,

    reduce(A by k) ⋈ B = reduce((A ⋉ B) by k) ⋈ B

and rows of other brands' parts change no sum. Only where the semijoin sinks to a table, whose own
arrangement serves it then.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ivm.dataflow.expressions import Call, Column, Expression
from views.plan.failures import plan_may_fail
from views.plan.keys import unique_key
from views.plan.nodes import Attribute, Filter, Join, Map, Plan, Reduce
from views.plan.nulls import asks_for_values
from views.plan.scalars import columns_of, conjunction, predicate, test
from views.plan.selectivity import FEW, kept
from views.plan.stored import Stored, stored
from views.plan.trees import inner_members, inputs, numbers_of, with_inputs
from views.rewrites.context import Context


def drop_groups(plan: Plan, context: Context) -> Plan:
    """Drops the rows of groups in `plan` that its joins do not ask for."""
    made: dict[int, Plan] = {}

    def drop(each: Plan) -> Plan:
        if id(each) not in made:
            members, conditions = inner_members(each)
            if len(members) == 1:
                made[id(each)] = with_inputs(each, tuple(map(drop, inputs(each))))
            else:
                join = _Inputs(tuple(map(drop, members)), conditions)
                made[id(each)] = _over(each, map(join.reduced, range(len(members))))
        return made[id(each)]

    return drop(plan)


def _over(plan: Plan, members: Iterator[Plan]) -> Plan:
    """The inner joins at the top of `plan` over other `members`, in order."""
    if not (isinstance(plan, Join) and plan.kind == "inner"):
        return next(members)
    left = _over(plan.left, members)
    return with_inputs(plan, (left, _over(plan.right, members)))


class _Inputs:
    """The inputs of inner joins, and the classes of columns that these hold equal."""

    def __init__(self, members: Sequence[Plan], conditions: Sequence[Expression]) -> None:
        self.members = members
        self.equal: dict[int, frozenset[int]] = {}
        for condition in filter(_equates, conditions):
            columns = columns_of(condition)
            joined = columns.union(*(self.equal.get(c, ()) for c in columns))
            self.equal |= dict.fromkeys(joined, joined)

    def reduced(self, i: int) -> Plan:
        """The input `i` without the groups that some other input does not ask for."""
        for j, other in enumerate(self.members):
            key = unique_key(other)
            if j != i and key and kept(other) < FEW and not plan_may_fail(other):
                names = {n: n for n in numbers_of(self.members[i])}
                found = self._without(self.members[i], names, other, key)
                if found is not None:
                    return found
        return self.members[i]

    def _without(
        self, plan: Plan, names: Mapping[int, int], asking: Plan, key: frozenset[int]
    ) -> Plan | None:
        """`plan` over groups that `asking` asks for by its unique `key`; None if it does not.

        `names` are the numbers that columns of `plan` have in the input that it is a part of.
        """
        match plan:
            case Map():
                passed = [(e.index, a) for a, e in plan.outputs if isinstance(e, Column)]
                below = {n: names[a.number] for n, a in passed if a.number in names}
                found = self._without(plan.input, below, asking, key)
                return None if found is None else replace(plan, input=found)
            case Filter():
                found = self._without(plan.input, names, asking, key)
                return None if found is None else replace(plan, input=found)
            case Reduce() if numbers_of(plan.input).isdisjoint(numbers_of(asking)):
                pairs = self._pairs(plan, names, asking, key)
                if pairs is None or not self._is_arranged(plan.input, pairs):
                    return None
                on = conjunction(_equal(k, a) for k, a in pairs)
                return replace(plan, input=Join("semi", plan.input, asking, on))
            case _:
                return None

    def _pairs(
        self, plan: Reduce, names: Mapping[int, int], asking: Plan, key: frozenset[int]
    ) -> list[tuple[Attribute, Attribute]] | None:
        """A grouping key for each column of the unique `key`, held equal to it."""
        pairs = []
        for asked in (a for a in asking.attributes if a.number in key):
            equal = self.equal.get(asked.number, frozenset())
            same = [k for k in plan.keys if names.get(k.number) in equal and k.type == asked.type]
            if not same:
                return None
            pairs.append((same[0], asked))
        return pairs

    def _is_arranged(self, plan: Plan, pairs: Sequence[tuple[Attribute, Attribute]]) -> bool:
        """Whether another input reads the table of the grouping keys too, joined by the same."""
        table = _table_of(plan, [k.number for k, _ in pairs])
        if table is None:
            return False
        collection, columns = table
        for member in self.members:
            other = _whole(member)
            if other is None or other.name != collection:
                continue
            numbers = {name: n for n, name in other.columns.items()}
            if all(
                numbers.get(name) in self.equal.get(asked.number, ())
                for name, (_, asked) in zip(columns, pairs, strict=True)
            ):
                return True
        return False


def _equates(condition: Expression) -> bool:
    """Whether `condition` holds two columns equal, NULL equal to NULL or to nothing."""
    return (
        isinstance(condition, Call)
        and condition.function in ("eq", "is_not_distinct")
        and all(isinstance(a, Column) for a in condition.arguments)
    )


def _equal(key: Attribute, asked: Attribute) -> Expression:
    """The condition of the semijoin: NULL asks for NULL, since a join above may mean that."""
    if key.nullable and asked.nullable:
        return test("is_not_distinct", key.column, asked.column)
    return predicate("eq", key.column, asked.column)


def _table_of(plan: Plan, columns: Sequence[int]) -> tuple[str, list[str]] | None:
    """The table whose whole rows `plan` has `columns` of, and their names in it.

    A semijoin by these sinks there.
    """
    match plan:
        case Map():
            made = {a.number: e for a, e in plan.outputs}
            below = [e.index for e in map(made.get, columns) if isinstance(e, Column)]
            return _table_of(plan.input, below) if len(below) == len(columns) else None
        case Join(kind="inner"):
            sides = [s for s in inputs(plan) if numbers_of(s).issuperset(columns)]
            return _table_of(sides[0], columns) if sides else None
        case _:
            found = _whole(plan)
            return None if found is None else (found.name, [found.columns[c] for c in columns])


def _whole(plan: Plan) -> Stored | None:
    """The collection that `plan` has the rows of, but for conditions that a join puts off."""
    while isinstance(plan, Filter) and asks_for_values(plan.predicate):
        plan = plan.input
    found = stored(plan)
    return found if found is not None and found.whole else None
