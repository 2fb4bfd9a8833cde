"""GROUP BY: makes one row for each group of the rows of FROM and WHERE.

Expressions of the later clauses are bound over the ungrouped rows, with columns in place of their
aggregates; `regroup` then maps them onto the groups: an expression that equals a grouping
expression becomes its column, and a column of the ungrouped rows that is left over is a fault.
Grouping by a table's primary key groups by its other columns too, as they depend on it.

Several grouping sets are the union of as many groupings of the same rows. In a row of one of them
the keys of the others are NULL, which is not the NULL of a row: `grouping(…)` tells them apart.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Column, Expression, Literal
from views.errors import GroupingError
from views.plan.nodes import AggregateCall, Attribute, Map, Plan, Reduce, SortKey, Union
from views.plan.scalars import columns_of, rebuild
from views.plan.trees import free_columns, replace_free
from views.sql.base.computations import Aggregates, Computation, Pending, attach
from views.sql.base.scope import Session
from views.sql.clauses.grouping_sets import Set


@dataclass(frozen=True, slots=True)
class Key:
    """A grouping expression: its column in the rows that are grouped, and in the groups."""

    expression: Expression
    given: Attribute
    grouped: Attribute


class Grouping:
    """The groups of one query by its grouping sets."""

    def __init__(
        self, session: Session, ungrouped: Plan, sets: Sequence[Set], aggregates: Aggregates
    ) -> None:
        self.session = session
        self.ungrouped = {a.number: a for a in ungrouped.attributes}
        self.sets = sets
        self.aggregates = aggregates
        self.keys: list[Key] = []
        for expression in dict.fromkeys(e for each in sets for e in each):
            self.keys.append(self._key(expression))
        whole = self.keys if len(sets) == 1 else []
        self._given = columns_of(*(k.expression for k in whole if isinstance(k.expression, Column)))
        self._groupings = {
            attribute.number: self._grouped_by(arguments, node)
            for arguments, (attribute, node) in aggregates.groupings.items()
        }

    def _key(self, expression: Expression) -> Key:
        if isinstance(expression, Column) and expression.index in self.ungrouped:
            given = self.ungrouped[expression.index]
        else:
            given = self.session.numbers.fresh("key", expression)
        if len(self.sets) == 1:
            return Key(expression, given, given)
        grouped = self.session.numbers.fresh(given.name, given)
        missing = any(expression not in each for each in self.sets)
        return Key(expression, given, grouped.widened() if missing else grouped)

    def _grouped_by(self, arguments: tuple[Expression, ...], node: exp.Expr) -> list[Literal]:
        """Lists the values of `grouping(arguments)`, one for each set: bits of keys left out."""
        known = {k.expression for k in self.keys}
        if not known.issuperset(arguments):
            raise self.session.source.fault(
                GroupingError, "an argument of grouping() must stand in GROUP BY", node
            )
        bits = ("".join("0" if a in each else "1" for a in arguments) for each in self.sets)
        return [Literal(int(b, 2), pa.int32()) for b in bits]

    def regroup(self, expression: Expression, node: exp.Expr) -> Expression:
        """Rewrites `expression`, bound at `node` over ungrouped rows, over the groups."""
        for key in self.keys:
            if expression == key.expression:
                return key.grouped.column
        if isinstance(expression, Column):
            if len(self.sets) == 1 and expression.index in self._groupings:
                return self._groupings[expression.index][0]
            self.require(expression.index, node)
            return expression
        if isinstance(expression, Call):
            arguments = (
                a if isinstance(a, Literal) else self.regroup(a, node) for a in expression.arguments
            )
            return rebuild(expression, tuple(arguments))
        return expression

    def regroup_pending(self, pending: Pending, node: exp.Expr) -> Pending:
        """Rewrites a subquery that may read the groups' columns."""
        for number in free_columns(pending.plan):
            self.require(number, node)
        moved: dict[int, Expression] = {
            k.given.number: k.grouped.column for k in self.keys if k.grouped is not k.given
        }
        plan = replace_free(pending.plan, moved)
        return replace(
            pending,
            plan=plan,
            predicate=self.regroup(pending.predicate, node),
            guard=self.regroup(pending.guard, node),
        )

    def require(self, number: int, node: exp.Expr) -> None:
        """Checks that the column `number` has one value in each group (raises GroupingError)."""
        attribute = self.ungrouped.get(number)
        if attribute is None or any(k.given.number == number for k in self.keys):
            return
        _, primary = self.session.keyed.get(number, (attribute, frozenset()))
        if not primary or not primary <= self._given:
            raise self.session.source.fault(
                GroupingError,
                f"column {attribute.name!r} must stand in GROUP BY or inside an aggregate",
                _place(node, attribute.name),
            )
        self.keys.append(Key(attribute.column, attribute, attribute))
        self.sets = [(*self.sets[0], attribute.column)]

    def aggregate(self, plan: Plan) -> Plan:
        """Groups `plan`, with the aggregates collected."""
        plan = attach(plan, self.aggregates.pending)
        outputs = [(k.given, k.expression) for k in self.keys]
        columns = {e: a.column for a, e in outputs}
        for computation in self.aggregates.calls:
            for value in computation.reads():
                if value not in columns:
                    attribute = self.session.numbers.fresh(computation.function, value)
                    outputs.append((attribute, value))
                    columns[value] = attribute.column
        calls = tuple(_call(a, c, columns) for c, a in self.aggregates.calls.items())
        given = Map(plan, tuple(outputs)) if outputs else plan
        if len(self.sets) == 1:
            return self._grouped(given, self.keys, calls)
        branches = tuple(self._branch(given, i, calls) for i in range(len(self.sets)))
        named = [a for a, _ in self.aggregates.groupings.values()]
        grouped = [k.grouped for k in self.keys]
        return Union(branches, (*grouped, *(c.attribute for c in calls), *named))

    def _grouped(
        self, given: Plan, keys: Sequence[Key], calls: tuple[AggregateCall, ...]
    ) -> Reduce:
        """The groups by `keys`; without keys, something is counted, so that there is a row."""
        if not keys and not calls:
            nothing = self.session.numbers.fresh("count", Literal(0, pa.int64()))
            calls = (AggregateCall(nothing, "count", None),)
        return Reduce(given, tuple(k.given for k in keys), calls)

    def _branch(self, given: Plan, index: int, calls: tuple[AggregateCall, ...]) -> Plan:
        """The groups by one of the sets, with the columns of all of them."""
        numbers = self.session.numbers
        keys = [k for k in self.keys if k.expression in self.sets[index]]
        own = tuple(
            replace(c, attribute=numbers.fresh(c.attribute.name, c.attribute)) for c in calls
        )
        values: list[tuple[str, Expression]] = [
            (k.given.name, k.given.column if k in keys else Literal(None, k.given.type))
            for k in self.keys
        ]
        values += [(c.attribute.name, c.attribute.column) for c in own]
        values += [("grouping", literals[index]) for literals in self._groupings.values()]
        outputs = tuple((numbers.fresh(name, value), value) for name, value in values)
        return Map(self._grouped(given, keys, own), outputs)


def _call(
    attribute: Attribute, computation: Computation, columns: dict[Expression, Column]
) -> AggregateCall:
    """The call that computes it from these columns."""

    def column(value: Expression | None) -> Column | None:
        return None if value is None else columns[value]

    return AggregateCall(
        attribute,
        computation.function,
        column(computation.argument),
        computation.distinct,
        column(computation.other),
        tuple(SortKey(columns[o.value], o.descending, o.nulls_first) for o in computation.order),
        column(computation.where),
        computation.parameter,
    )


def _place(node: exp.Expr, name: str) -> exp.Expr:
    return next((c for c in node.find_all(exp.Column) if c.name == name), node)
