"""Join order: orders inner joins by equalities and keys, so that few rows are kept between.

First every input that a look-up reduces takes that look-up in: a look-up is a join by the other
input's key, which multiplies nothing, and it reduces where the other input has lost rows to
conditions. So conditions on dimensions reach the facts, dimensions of dimensions first. Then the
inputs are joined in the order of FROM, each connected by an equality to those before it where one
is; look-ups that only add columns come last. Among inputs of which neither of these decides, one
goes first that is arranged already by the columns that it is joined by: then the join has but one
side to arrange. Nothing is estimated.
"""

from collections.abc import Callable, Collection, Mapping, Sequence

from ivm.dataflow.expressions import Call, Expression
from views.plan.keys import equated, unique_key
from views.plan.nodes import Filter, Join, Map, Plan
from views.plan.scalars import columns_of, conjunction
from views.plan.stored import stored
from views.plan.trees import inner_members, inputs, numbers_of, with_inputs
from views.rewrites.context import Context


def order_joins(plan: Plan, context: Context) -> Plan:
    """Orders the inner joins of `plan` so that they are connected."""
    made: dict[int, Plan] = {}

    def order(each: Plan) -> Plan:
        if id(each) not in made:
            made[id(each)] = _ordered(each, order, context.arrangements)
        return made[id(each)]

    return order(plan)


def _ordered(plan: Plan, order: Callable[[Plan], Plan], arrangements: Collection[str]) -> Plan:
    """`plan` with its joins in order, over inputs each by `order`."""
    if not (isinstance(plan, Join) and plan.kind == "inner"):
        return with_inputs(plan, tuple(map(order, inputs(plan))))
    members, conditions = inner_members(plan)
    group = _Group(list(map(order, members)), conditions, arrangements)
    group.reduce()
    return group.chain()


class _Group:
    """Inputs by number, in the order of FROM, and the conditions that no join has taken yet."""

    def __init__(
        self, members: list[Plan], conditions: list[Expression], arrangements: Collection[str]
    ) -> None:
        self.arrangements = arrangements
        self.members = dict(enumerate(members))
        self.conditions = [(c, columns_of(c)) for c in conditions]
        self.owner = {n: i for i, member in self.members.items() for n in numbers_of(member)}

    def reduce(self) -> None:
        """Joins each input with the look-ups that reduce it, as long as there are any."""
        while found := self._lookups():
            reduced = {member for member, _ in found}
            member, other = next((f for f in found if f[1] not in reduced), found[0])
            self._join(member, other)

    def _lookups(self) -> list[tuple[int, int]]:
        """Inputs with another one that reduces them."""
        pairs = self._connected()
        both = sorted([*pairs, *((j, i) for i, j in pairs)])
        return [
            (i, j) for i, j in both if _is_reduced(self.members[j]) and self._is_lookup(i, j, pairs)
        ]

    def chain(self) -> Plan:
        """Joins all inputs, one after another."""
        first = min(self.members)
        while len(self.members) > 1:
            pairs = self._connected()
            others = sorted(self.members.keys() - {first})
            connected = [i for i in others if _between(first, i, pairs)]
            following = [
                i
                for i in connected
                if _is_reduced(self.members[i]) or not self._is_lookup(first, i, pairs)
            ]
            candidates = following or connected or others
            arranged = (i for i in candidates if self._is_arranged(i, _between(first, i, pairs)))
            self._join(first, next(arranged, candidates[0]))
        return self.members[first]

    def _join(self, one: int, other: int) -> None:
        """Replace `one` by its join with `other`, by all conditions that can be tested there."""
        left, right = self.members[one], self.members.pop(other)
        self.owner |= dict.fromkeys(numbers_of(right), one)
        ready = [c for c, read in self.conditions if {self.owner[n] for n in read} <= {one}]
        taken = set(map(id, ready))
        self.conditions = [each for each in self.conditions if id(each[0]) not in taken]
        self.members[one] = Join("inner", left, right, conjunction(ready))

    def _connected(self) -> dict[tuple[int, int], list[Expression]]:
        """The equalities between two inputs, by these."""
        found: dict[tuple[int, int], list[Expression]] = {}
        for condition, read in self.conditions:
            owners = sorted({self.owner[n] for n in read})
            if len(owners) == 2 and self._equates(condition):
                found.setdefault((owners[0], owners[1]), []).append(condition)
        return found

    def _equates(self, condition: Expression) -> bool:
        """Whether `condition` is an equality each of whose sides reads one input."""
        if not (isinstance(condition, Call) and condition.function in ("eq", "is_not_distinct")):
            return False
        sides = [{self.owner[n] for n in columns_of(a)} for a in condition.arguments]
        return all(len(side) == 1 for side in sides)

    def _is_lookup(
        self, member: int, other: int, pairs: dict[tuple[int, int], list[Expression]]
    ) -> bool:
        """Whether each row of `member` finds at most one partner in `other`."""
        key = unique_key(self.members[other])
        equal = conjunction(_between(member, other, pairs))
        join = Join("inner", self.members[member], self.members[other], equal)
        return key is not None and len(key) > 0 and key <= equated(join)

    def _is_arranged(self, member: int, equal: Sequence[Expression]) -> bool:
        """Whether there is an arrangement of `member` by its sides of the equalities `equal`."""
        collection = stored(self.members[member])
        if collection is None:
            return False
        keys = [
            side
            for each in equal
            if isinstance(each, Call)
            for side in each.arguments
            if {self.owner[n] for n in columns_of(side)} == {member}
        ]
        return bool(keys) and collection.arranged_order(keys, self.arrangements) is not None


def _between(
    one: int, other: int, pairs: Mapping[tuple[int, int], list[Expression]]
) -> list[Expression]:
    """Of `pairs`, the equalities between two inputs."""
    return pairs.get((one, other)) or pairs.get((other, one)) or []


def _is_reduced(plan: Plan) -> bool:
    """Whether conditions have taken rows from `plan`."""
    match plan:
        case Map():
            return _is_reduced(plan.input)
        case Filter() | Join(kind="inner" | "semi" | "anti"):
            return True
        case _:
            return False
