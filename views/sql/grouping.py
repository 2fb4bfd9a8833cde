"""GROUP BY: from the rows of FROM and WHERE to one row for each group.

Expressions of the later clauses are bound over the ungrouped rows, with columns in place of their
aggregates; `regroup` then maps them onto the groups: what equals a grouping expression becomes its
column, and a column of the ungrouped rows that is left over is a fault. Grouping by a table's
primary key groups by its other columns too, as they depend on it.
"""

from collections.abc import Sequence
from dataclasses import replace

from sqlglot import exp

from ivm.expressions import Call, Column, Expression
from views.errors import GroupingError
from views.plan.nodes import Aggregate, AggregateCall, Attribute, Plan, Project
from views.plan.scalars import columns_of, rebuild
from views.plan.trees import free_columns
from views.sql.binder import Aggregates, Pending, attach
from views.sql.scope import Session


class Grouping:
    """The groups of one query: `keys` are its grouping columns with what they stand for."""

    def __init__(
        self, session: Session, ungrouped: Plan, expressions: Sequence[Expression]
    ) -> None:
        self.session = session
        self.ungrouped = {a.number: a for a in ungrouped.attributes}
        self.keys: list[tuple[Attribute, Expression]] = []
        for expression in dict.fromkeys(expressions):
            self.keys.append((self._attribute(expression), expression))
        self._given = columns_of(*(e for _, e in self.keys if isinstance(e, Column)))

    def _attribute(self, expression: Expression) -> Attribute:
        if isinstance(expression, Column) and expression.index in self.ungrouped:
            return self.ungrouped[expression.index]
        return self.session.numbers.fresh("key", expression)

    def regroup(self, expression: Expression, node: exp.Expr) -> Expression:
        """`expression`, bound at `node` over ungrouped rows, over the groups."""
        for attribute, key in self.keys:
            if expression == key:
                return attribute.column
        if isinstance(expression, Column):
            self.require(expression.index, node)
            return expression
        if isinstance(expression, Call):
            arguments = tuple(self.regroup(a, node) for a in expression.arguments)
            return rebuild(expression, arguments)
        return expression

    def regroup_pending(self, pending: Pending, node: exp.Expr) -> Pending:
        """A subquery that may read the groups' columns."""
        for number in free_columns(pending.plan):
            self.require(number, node)
        return replace(pending, predicate=self.regroup(pending.predicate, node))

    def require(self, number: int, node: exp.Expr) -> None:
        """See that the column `number` has one value in each group, or raise GroupingError."""
        attribute = self.ungrouped.get(number)
        if attribute is None or any(a.number == number for a, _ in self.keys):
            return
        _, primary = self.session.keyed.get(number, (attribute, frozenset()))
        if not primary or not primary <= self._given:
            raise self.session.source.fault(
                GroupingError,
                f"column {attribute.name!r} must stand in GROUP BY or inside an aggregate",
                _place(node, attribute.name),
            )
        self.keys.append((attribute, attribute.column))

    def aggregate(self, plan: Plan, aggregates: Aggregates) -> Plan:
        """The groups of `plan` with the aggregates collected."""
        plan = attach(plan, aggregates.pending)
        outputs = list(self.keys)
        calls: list[AggregateCall] = []
        columns = {e: a.column for a, e in outputs}
        for call, argument in aggregates.calls:
            if argument is not None and argument not in columns:
                attribute = self.session.numbers.fresh(call.function, argument)
                outputs.append((attribute, argument))
                columns[argument] = attribute.column
            calls.append(replace(call, argument=None if argument is None else columns[argument]))
        if not outputs:
            return Aggregate(plan, (), tuple(calls))
        given = Project(plan, tuple(outputs))
        return Aggregate(given, tuple(a for a, _ in self.keys), tuple(calls))


def _place(node: exp.Expr, name: str) -> exp.Expr:
    return next((c for c in node.find_all(exp.Column) if c.name == name), node)
