"""Delta joins: join relations over their arrangements, without state of their own.

With R' = R + ΔR, Δ(R₁ ⋈ … ⋈ Rₙ) = Σᵢ R'₁ ⋈ … ⋈ R'ᵢ₋₁ ⋈ ΔRᵢ ⋈ Rᵢ₊₁ ⋈ … ⋈ Rₙ: each change of a
relation looks its partners up in the arrangements of all others, and nothing between them is
stored. (Ammar, McSherry, Salihoglu and Joglekar, "Distributed Evaluation of Subgraph Queries Using
Worst-case Optimal Low-Memory Dataflows", PVLDB 11, 2018.)

Chosen for three relations and more where every arrangement that this needs exists already;
otherwise joins are binary. Chosen for two where a key may be NULL on one side and not on the other:
arrangements whose keys have different types cannot be merged, but a look-up converts the key it
looks for, so that both serve as they are and no copy is made. Never chosen where two keys that
shall be equal may be NULL, since look-ups find NULL by NULL.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass

from ivm.dataflow import nodes as df
from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.expressions import Call, Column, Expression
from views.lowering.access import arrangement_name
from views.lowering.lowered import Lowered, conjoined, moved
from views.plan.nodes import Join, Plan
from views.plan.scalars import columns_of
from views.plan.stored import stored
from views.plan.trees import inner_members, numbers_of

MAX_RELATIONS = 16  # each has a path of look-ups in all others

Lower = Callable[[Plan, frozenset[int]], Lowered]


def delta_joined(
    plan: Join, needed: frozenset[int], lower: Lower, existing: Collection[str]
) -> Lowered | None:
    """Lowers the inner joins at the top of `plan` to one delta join, where that is chosen."""
    members, conditions = inner_members(plan)
    if len(members) > MAX_RELATIONS or any(stored(member) is None for member in members):
        return None
    equal = [c for c in conditions if _is_equality(c)]
    classes = _classes(equal, {a.number: a.column for m in members for a in m.attributes})
    own = [numbers_of(member) for member in members]
    if not all(len({c.index for c in each} & n) <= 1 for each in classes for n in own):
        return None
    nulls = [sum(c.nullable for c in each) for each in classes]
    if max(nulls, default=0) > 1 or (len(members) == 2 and 1 not in nulls):
        return None
    inputs = Inputs.of(members, lower)
    if inputs is None:
        return None
    residual = [c for c in conditions if c not in equal]
    names = inputs.names
    wanted = sorted(inputs.at[n] for n in needed | columns_of(*residual))
    conditions = [moved(c, inputs.at) for c in residual] + inputs.deferred
    kept = sorted({*wanted, *columns_of(*conditions)}) or [0]
    node = delta_join(
        inputs.sources,
        [[inputs.at[c.index] for c in each] for each in classes],
        [(names[i], i) for i in kept],
    )
    if not _is_chosen(node, existing, inputs):
        return None
    index = {position: i for i, position in enumerate(kept)}
    positions = {n: index[inputs.at[n]] for n in needed}
    if not conditions:
        return Lowered(node, positions)
    return Lowered(df.Filter(node, conjoined([moved(c, index) for c in conditions])), positions)


@dataclass(frozen=True, slots=True)
class Inputs:
    """The relations of a delta join, whose columns are numbered one relation after another.

    `at` says where the plan's columns are; `deferred` are the relations' own conditions.
    """

    sources: tuple[df.Get, ...]
    at: dict[int, int]
    deferred: list[Expression]
    whole: list[df.Get]  # those without conditions

    @classmethod
    def of(cls, members: Sequence[Plan], lower: Lower) -> "Inputs | None":
        """Lowers the `members`, which are stored collections or parts of them.

        None if few rows of one are sought: the others are then joined with these.
        """
        sources: list[df.Get] = []
        at: dict[int, int] = {}
        deferred: list[Expression] = []
        whole: list[df.Get] = []
        for member in members:
            lowered = lower(member, numbers_of(member))
            start, node = sum(len(s.schema) for s in sources), lowered.node
            while isinstance(node, df.Filter):
                to = {i: start + i for i in range(len(node.schema))}
                deferred.append(moved(node.predicate, to))
                node = node.input
            if not isinstance(node, df.Get):
                return None
            sources.append(node)
            if node is lowered.node:
                whole.append(node)
            at |= {n: start + position for n, position in lowered.positions.items()}
        return cls(tuple(sources), at, deferred, whole)

    @property
    def names(self) -> list[str]:
        """Lists the names of the columns."""
        return [name for source in self.sources for name in source.schema.names]


def _is_chosen(node: df.DeltaJoin, existing: Collection[str], inputs: Inputs) -> bool:
    if any(not lookup.key for path in node.paths for lookup in path.lookups):
        return False
    may_be_made = inputs.whole if len(node.relations) == 2 else []
    return all(
        isinstance(a.input, df.Get)
        and (arrangement_name(a.input, a.key) in existing or a.input in may_be_made)
        for a in node.inputs
    )


def _is_equality(condition: Expression) -> bool:
    """Whether it holds two columns equal: one beside itself says that it is not NULL."""
    return (
        isinstance(condition, Call)
        and condition.function == "eq"
        and all(isinstance(a, Column) for a in condition.arguments)
        and len(columns_of(condition)) == 2
    )


def _classes(equalities: Sequence[Expression], columns: Mapping[int, Column]) -> list[list[Column]]:
    """Groups those of `columns` that `equalities`, which may call them nullable, hold equal."""
    classes: list[list[Column]] = []
    for equality in equalities:
        assert isinstance(equality, Call)
        pair = [columns[a.index] for a in equality.arguments if isinstance(a, Column)]
        touched = [c for c in classes if any(column in c for column in pair)]
        merged = [column for c in touched for column in c]
        merged += [column for column in pair if column not in merged]
        classes = [c for c in classes if c not in touched] + [merged]
    return classes
