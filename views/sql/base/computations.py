"""Computations that a query collects while it binds: subqueries, aggregates, windows, sets."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ivm.dataflow.aggregates import UP_TO_PEERS, Frame, WindowFunction
from ivm.dataflow.expressions import Expression
from views.plan.failures import may_fail
from views.plan.nodes import (
    AggregateFunction,
    Apply,
    Attribute,
    JoinKind,
    Plan,
    SortKey,
)
from views.plan.scalars import TRUE, columns_of, conjunction, conjuncts
from views.plan.trees import free_columns, numbers_of


@dataclass(frozen=True, slots=True)
class Pending:
    """A subquery met in an expression: an Apply that its clause still has to put in its plan.

    Its values matter only for rows where `guard` holds, so that it need not be evaluated for
    others.
    """

    kind: JoinKind
    plan: Plan
    predicate: Expression = TRUE
    mark: Attribute | None = None
    guard: Expression = TRUE

    @property
    def numbers(self) -> set[int]:
        """The numbers of the subquery's columns."""
        return {a.number for a in self.plan.attributes} | (
            {self.mark.number} if self.mark else set()
        )

    @property
    def reads(self) -> set[int]:
        """The numbers of the columns that it needs of the rows it is joined with."""
        return {*columns_of(self.predicate), *free_columns(self.plan)}

    def attach(self, plan: Plan) -> Apply:
        """Joins `plan` with the subquery.

        Its guard keeps the conditions that read columns of `plan` alone. After one that is left
        out, a condition that may fail is left out too, since it may where that one does not hold.
        """
        own, holds = numbers_of(plan), list[Expression]()
        for i, part in enumerate(conjuncts(self.guard)):
            if columns_of(part) <= own and (len(holds) == i or not may_fail(part)):
                holds.append(part)
        guard = conjunction(holds)
        return Apply(self.kind, plan, self.plan, self.predicate, self.mark, guard)


def attach(plan: Plan, pending: Sequence[Pending]) -> Plan:
    """Joins `plan` with all the subqueries."""
    for subquery in pending:
        plan = subquery.attach(plan)
    return plan


@dataclass(frozen=True, slots=True)
class Ordering:
    """A sort key whose expression is not yet a column."""

    value: Expression
    descending: bool
    nulls_first: bool

    def key(self, attribute: Attribute) -> SortKey:
        """Makes the key, once its expression is the column `attribute`."""
        return SortKey(attribute.column, self.descending, self.nulls_first)


@dataclass(frozen=True, slots=True)
class Computation:
    """Describes an `AggregateCall` over expressions that are not yet columns."""

    function: AggregateFunction
    argument: Expression | None
    distinct: bool = False
    other: Expression | None = None
    order: tuple[Ordering, ...] = ()
    where: Expression | None = None
    parameter: float | str | None = None

    def reads(self) -> list[Expression]:
        """Lists the expressions that it reads of each row."""
        given = [self.argument, self.other, self.where, *(o.value for o in self.order)]
        return [e for e in given if e is not None]


@dataclass(slots=True)
class Aggregates:
    """Collects a grouped query's computations, each once, and the subqueries in their arguments.

    `groupings` are the columns of `grouping(…)`, by its arguments, and its first place.
    """

    calls: dict[Computation, Attribute] = field(default_factory=dict)
    groupings: dict[tuple[Expression, ...], tuple[Attribute, exp.Expr]] = field(
        default_factory=dict
    )
    pending: list[Pending] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SetCall:
    """A call, at `node`, of a function that returns a set: the array of its elements.

    The column `element` has one of them in each row that they make.
    """

    array: Expression
    element: Attribute
    node: exp.Expr


@dataclass(frozen=True, slots=True)
class WindowUse:
    """Describes a `WindowCall` over expressions that are not yet columns.

    With a `gap`, an interval, its rows are those of one session.
    """

    keys: tuple[Expression, ...]
    order: tuple[Ordering, ...]
    attribute: Attribute
    function: WindowFunction
    argument: Expression | None = None
    default: Expression | None = None
    count: int = 1
    frame: Frame = UP_TO_PEERS
    other: Expression | None = None
    varies: Expression | None = None
    skips_nulls: bool = False
    where: Expression | None = None
    parameter: str | None = None
    gap: Expression | None = None

    def reads(self) -> list[Expression]:
        """Lists the expressions that it reads of each row."""
        given = [self.argument, self.default, self.other, self.varies, self.where]
        order = [o.value for o in self.order]
        return [*self.keys, *order, *(e for e in given if e is not None)]

    def mapped(self, to: Callable[[Expression], Expression]) -> "WindowUse":
        """Makes the same over other expressions."""

        def moved(expression: Expression | None) -> Expression | None:
            return None if expression is None else to(expression)

        return replace(
            self,
            keys=tuple(to(k) for k in self.keys),
            order=tuple(replace(o, value=to(o.value)) for o in self.order),
            argument=moved(self.argument),
            default=moved(self.default),
            other=moved(self.other),
            varies=moved(self.varies),
            where=moved(self.where),
        )
