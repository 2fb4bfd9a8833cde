"""One occurrence of an aggregate: binds its parts, and collects its computation for its query."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from views.errors import GroupingError, UnsupportedSql
from views.plan.trees import free_columns
from views.sql.base.binder import Binder
from views.sql.base.coercion import BOOL, Bound, is_stored_in_order
from views.sql.base.computations import Aggregates, Computation, Ordering


@dataclass(frozen=True, slots=True)
class Argument:
    """An aggregate's first argument, with DISTINCT and ORDER BY of the same parentheses."""

    node: exp.Expr
    distinct: bool
    order: tuple[exp.Ordered, ...]


@dataclass(frozen=True, slots=True)
class Occurrence:
    """Binds the aggregate `node` in the clause of `around`.

    `binder` binds its arguments, `condition` is its FILTER.
    """

    around: Binder
    binder: Binder
    node: exp.Expr
    condition: Expression | None

    @classmethod
    def of(cls, b: Binder, node: exp.Expr, only_if: exp.Expr | None) -> "Occurrence":
        """Makes the occurrence of the aggregate at `node` in a clause."""
        inner = b.sibling("an aggregate's argument")
        condition = None if only_if is None else inner.condition(only_if)
        return cls(b, inner, node, condition)

    @property
    def over_groups(self) -> bool:
        """Tells whether it is over a window, so that its argument may hold aggregates."""
        return self.around.enclosing is not None

    def aggregates(self) -> Aggregates:
        """The aggregates of the query that computes this one, once its arguments are bound.

        As in SQL that is the innermost query of whose columns it reads some; of none, its own.
        Raises GroupingError where that query cannot have an aggregate, or this one holds another.
        """
        read = self.binder.read.union(*(free_columns(p.plan) for p in self.binder.pending))
        own, found, clause = self.around.scope, self.around.aggregates, self.around.clause
        if not self.over_groups:
            owner = next((s for s in own.around() if s.numbers() & read), own)
            if owner is not own:
                found, clause = owner.aggregates, owner.clause
        if found is not None and read.isdisjoint(a.number for a in found.calls.values()):
            return found
        place = clause if found is None else self.binder.clause
        raise self.binder.fault(GroupingError, f"an aggregate cannot stand in {place}", self.node)

    def argument(self, given: exp.Expr | None) -> Argument:
        """Binds `[DISTINCT] x [ORDER BY …]` (raises UnsupportedSql for several in place of x)."""
        order: tuple[exp.Ordered, ...] = ()
        if isinstance(given, exp.Order):
            order, given = tuple(given.expressions), given.this
        if given is None:
            raise self.unsupported("an aggregate without an argument")
        distinct = isinstance(given, exp.Distinct)
        if distinct:
            self.binder.session.source.only(given, ("expressions",))
            if len(given.expressions) != 1:
                raise self.unsupported(
                    "DISTINCT of several columns in an aggregate (write a row, (a, b))"
                )
            given = given.expressions[0]
        if self.over_groups and (order or distinct):
            raise self.unsupported(_ORDERED_INSIDE if order else _DISTINCT_INSIDE)
        return Argument(given, distinct, order)

    def order_of(self, argument: Argument) -> tuple[Ordering, ...]:
        """The order of the values: that of the argument, else that of the rows."""
        scope = self.around.scope
        is_own = self.binder.read <= scope.numbers() and not self.over_groups
        if argument.order or argument.distinct or not is_own:
            return self.ordering(argument.order)
        return tuple(Ordering(k.column, k.descending, k.nulls_first) for k in scope.order)

    def ordering(self, order: tuple[exp.Ordered, ...]) -> tuple[Ordering, ...]:
        """Binds the keys of an ORDER BY inside the aggregate."""
        return tuple(ordering_of(self.binder, o, self.binder.value(o.this)) for o in order)

    def check_distinct(self, order: tuple[Ordering, ...], value: Expression) -> None:
        """Checks that distinct values are ordered by themselves (raises TypeMismatch)."""
        if any(each.value != value for each in order):
            raise self.binder.mismatch(
                "in an aggregate with DISTINCT, ORDER BY takes the argument only", self.node
            )

    def counted(self, value: Expression) -> Expression:
        """Makes `value` NULL in a row that FILTER leaves out."""
        return value if self.condition is None else only_where(self.condition, value)

    def compute(self, computation: Computation, kind: pa.DataType) -> Expression:
        """Collects `computation`, of type `kind`, and reads its value for each group."""
        known = self.aggregates().calls
        if computation not in known:
            function = computation.function
            numbers = self.binder.session.numbers
            known[computation] = numbers.new(function, kind, function != "count")
        return known[computation].column

    def unsupported(self, what: str) -> UnsupportedSql:
        """Makes the refusal of a part of this aggregate."""
        return self.binder.session.source.unsupported(what, self.node)


@dataclass(frozen=True, slots=True)
class AggregateHandler:
    """Binds one class of aggregates; `reads` lists the parts of the syntax that it takes."""

    bind: Callable[[Occurrence, Any], Bound]
    reads: tuple[str, ...]


def only_where(condition: Expression, value: Expression) -> Expression:
    """Makes `value` NULL where `condition` is not true."""
    return Call("case", (condition, value, Literal(None, value.type)), value.type, True)


def ordering_of(b: Binder, node: exp.Ordered, value: Expression) -> Ordering:
    """Makes a sort key by `value`, in the direction of `node`."""
    b.session.source.only(node, ("this", "desc", "nulls_first"))
    if not is_stored_in_order(value.type):
        raise b.session.source.unsupported(
            "an order by jsonb", node, "order by a text or a number in it: document ->> 'key'"
        )
    return Ordering(value, bool(node.args.get("desc")), bool(node.args.get("nulls_first")))


_ORDERED_INSIDE = "ORDER BY inside an aggregate over a window (write it in OVER)"
_DISTINCT_INSIDE = "DISTINCT inside an aggregate over a window (drop copies in a subquery)"
TRUE_ROW = Literal(True, BOOL)
"""The constant that stands for a row where rows are counted."""
