"""Binds subqueries in expressions: EXISTS, ARRAY, scalar subqueries, and rows of values.

Each becomes a join that its clause applies to its rows.
"""

from collections.abc import Sequence
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from views.plan.failures import may_fail, plan_may_fail
from views.plan.keys import has_at_most_one_row, has_one_row
from views.plan.nodes import AggregateCall, Attribute, Map, Plan, Reduce, SortKey
from views.plan.scalars import TRUE, conjunction, predicate
from views.sql.base.arrays import matched
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import BIGINT, BOOL, TEXT, Bound, cast
from views.sql.base.computations import Pending
from views.sql.base.scope import BoundQuery, Environment
from views.sql.functions import arrays

_TOO_MANY = "more than one row returned by a subquery used as an expression"


def bind_query(b: Binder, node: exp.Expr, ordered: bool = False) -> BoundQuery:
    """Binds a query that may read the columns of the row it is evaluated for."""
    scope = replace(b.scope, clause=b.clause, aggregates=b.aggregates)
    inner = Environment(b.environment.named, scope, ordered)
    return b.session.bind_query(b.session, inner, node)


def exists(b: Binder, node: exp.Exists) -> Bound:
    return b.once(node, lambda: mark(b, bind_query(b, node.this).plan, TRUE))


def mark(b: Binder, plan: Plan, condition: Expression) -> Expression:
    """Makes a column that tells whether a row of `plan` satisfies `condition`."""
    attribute = b.session.numbers.fresh("exists", TRUE)
    _add(b, Pending("mark", plan, condition, attribute))
    return attribute.column


def one_row(b: Binder, plan: Plan, attributes: Sequence[Attribute]) -> list[Expression]:
    """Reads the columns of `plan`, which has one row; NULL in rows that its guards leave out."""
    is_guarded = _add(b, Pending("inner", plan))
    return [a.widened().column if is_guarded else a.column for a in attributes]


def _add(b: Binder, subquery: Pending) -> bool:
    """Adds a subquery to the clause of `b`; true if it is evaluated for some rows only.

    One that cannot fail is simpler if it is evaluated for all.
    """
    is_guarded = b.guards and (may_fail(subquery.predicate) or plan_may_fail(subquery.plan))
    if is_guarded:
        subquery = replace(subquery, guard=conjunction(b.guards))
    b.pending.append(subquery)
    return bool(is_guarded)


def scalar(b: Binder, node: exp.Subquery) -> Bound:
    """Binds a subquery as a value: NULL for no row, and an error for more than one."""

    def made() -> Expression:
        bound = bind_query(b, node)
        if len(bound.columns) != 1:
            raise b.mismatch("a subquery used as a value must have one column", node)
        return _only_row(b, bound)[0]

    return b.once(node, made)


def row_of(b: Binder, node: exp.Expr, other: exp.Expr) -> list[tuple[exp.Expr, Bound]] | None:
    """Binds the columns of `node`, if it is a subquery that is compared with a row of values."""
    if not (isinstance(node, exp.Subquery) and isinstance(other, exp.Tuple)):
        return None
    return [(node, value) for value in _only_row(b, bind_query(b, node))]


def array(b: Binder, node: exp.Array) -> Bound:
    """Binds `ARRAY (query)`, the query's values in its order; and `ARRAY[…]`."""
    query = arrays.query_of(node)
    return arrays.array(b, node) if query is None else b.once(node, lambda: _array(b, query))


def _array(b: Binder, query: exp.Expr) -> Expression:
    bound = bind_query(b, query, ordered=True)
    if len(bound.columns) != 1:
        raise b.mismatch("a subquery of ARRAY must have one column", query)
    ((_, attribute),) = bound.columns
    kind = pa.list_(attribute.type)
    made = b.session.numbers.new("array", kind, True)
    order = bound.order or (SortKey(attribute.column, False, False),)
    call = AggregateCall(made, "list", attribute.column, order=order)
    (values,) = one_row(b, Reduce(bound.plan, (), (call,)), [made])
    return Call("coalesce", (matched(values), Literal((), kind)), kind, False)


def _only_row(b: Binder, bound: BoundQuery) -> list[Expression]:
    """The columns of a query's one row: all NULL for no row, and an error for more than one."""
    attributes = [attribute for _, attribute in bound.columns]
    if has_one_row(bound.plan):
        return one_row(b, bound.plan, attributes)
    if has_at_most_one_row(bound.plan):
        _add(b, Pending("left", bound.plan))
        return [a.widened().column for a in attributes]
    return _checked(b, bound)


def _checked(b: Binder, bound: BoundQuery) -> list[Expression]:
    """Reads the values of a subquery, with an error where it has several rows."""
    numbers = b.session.numbers
    rows = numbers.fresh("rows", Literal(0, BIGINT))
    several = predicate("gt", rows.column, Literal(1, BIGINT))
    said = Call("case", (several, Literal(_TOO_MANY, TEXT), Literal("false", TEXT)), TEXT, False)
    failing = cast(said, BOOL)
    calls = [AggregateCall(rows, "count", None)]
    outputs: list[tuple[Attribute, Expression]] = []
    for name, attribute in bound.columns:
        none = Literal(None, attribute.type)
        value = numbers.fresh("value", none)
        calls.append(AggregateCall(value, "min", attribute.column))
        checked = Call("case", (failing, none, value.column), attribute.type, True)
        outputs.append((numbers.fresh(name, checked), checked))
    plan = Map(Reduce(bound.plan, (), tuple(calls)), tuple(outputs))
    return one_row(b, plan, [attribute for attribute, _ in outputs])


HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.Array: Handler(array, ("expressions", "bracket_notation", "value_constructor")),
    exp.Exists: Handler(exists, ("this",)),
    exp.Subquery: Handler(scalar, ("this",)),
}
