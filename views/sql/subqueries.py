"""Subqueries in expressions: EXISTS, IN, comparison with ANY, and scalar ones.

Each becomes a join that its clause applies to its rows. `x IN (subquery)` has three values: true
if a row equals `x`; else NULL if a row is NULL, or `x` is and there is any row; else false. Where
only its truth matters, as in WHERE, the parts that decide nothing are left out.
"""

from sqlglot import exp

from ivm.expressions import Call, Expression, Literal
from views.plan.keys import has_at_most_one_row, has_one_row
from views.plan.nodes import Aggregate, AggregateCall, Filter, Plan, Project
from views.plan.scalars import (
    FALSE,
    TRUE,
    conjunction,
    disjunction,
    negation,
    predicate,
    substitute,
    test,
)
from views.plan.trees import renamed
from views.sql.binder import Binder, Handler, Pending
from views.sql.coercion import BIGINT, BOOL, TEXT, Bound, cast
from views.sql.operators import compare, compare_bound
from views.sql.scope import BoundQuery, Environment

_TOO_MANY = "more than one row returned by a subquery used as an expression"


def bind_query(b: Binder, node: exp.Expr) -> BoundQuery:
    """A query that may read the columns of the row it is evaluated for."""
    inner = Environment(b.environment.named, b.scope)
    return b.session.bind_query(b.session, inner, node)


def exists(b: Binder, node: exp.Exists) -> Bound:
    return _mark(b, bind_query(b, node.this).plan, TRUE)


def _mark(b: Binder, plan: Plan, condition: Expression) -> Expression:
    """A column that says whether a row of `plan` satisfies `condition`."""
    mark = b.session.numbers.fresh("exists", TRUE)
    b.pending.append(Pending("mark", plan, condition, mark))
    return mark.column


def in_(b: Binder, node: exp.In) -> Bound:
    """`x IN (values)` and `x IN (subquery)`."""
    if node.args.get("query") is None:
        return _in_list(b, node)
    found, unknown = _membership(b, node.this, node.args["query"], node)
    if unknown == FALSE:
        return found
    null = Literal(None, BOOL)
    return Call("case", (found, TRUE, unknown, null, FALSE), BOOL, True)


def _in_list(b: Binder, node: exp.In) -> Expression:
    if isinstance(node.this, exp.Tuple):
        return disjunction(compare(b, "eq", "=", node.this, item) for item in node.expressions)
    value = (node.this, b.bind(node.this))
    return disjunction(
        compare_bound(b, "eq", "=", value, (item, b.bind(item))) for item in node.expressions
    )


def _membership(
    b: Binder, left: exp.Expr, query: exp.Expr, node: exp.Expr, with_unknown: bool = True
) -> tuple[Expression, Expression]:
    """Whether `left` is among the rows of `query`, and, if not so, whether that is unknown."""
    nodes = left.expressions if isinstance(left, exp.Tuple) else [left]
    bound = bind_query(b, query)
    if len(bound.columns) != len(nodes):
        raise b.mismatch(
            f"the subquery has {len(bound.columns)} columns where {len(nodes)} are compared", node
        )
    pairs = [
        compare_bound(b, "eq", "=", (n, b.bind(n)), (query, attribute.column))
        for n, (_, attribute) in zip(nodes, bound.columns, strict=True)
    ]
    found = _mark(b, bound.plan, conjunction(pairs))
    if not with_unknown or not any(p.nullable for p in pairs):
        return found, FALSE
    if len(pairs) > 1:
        return found, _mark_unknown_row(b, bound, pairs)
    return found, _unknown(b, nodes[0], bound)


def _unknown(b: Binder, node: exp.Expr, bound: BoundQuery) -> Expression:
    """Whether `x = row` is NULL for some row: by two marks, neither of which compares them."""
    cases: list[Expression] = []
    attribute = bound.columns[0][1]
    if attribute.nullable:
        plan, fresh = renamed(bound.plan, b.session.numbers)
        column = fresh[attribute.number].column
        cases.append(_mark(b, Filter(plan, test("is_null", column)), TRUE))
    x = b.value(node)
    if x.nullable:
        plan, _ = renamed(bound.plan, b.session.numbers)
        cases.append(_mark(b, plan, test("is_null", x)))
    return disjunction(cases)


def _mark_unknown_row(b: Binder, bound: BoundQuery, pairs: list[Expression]) -> Expression:
    """The same for a row of several columns, where some may differ for certain."""
    plan, fresh = renamed(bound.plan, b.session.numbers)
    moved = [substitute(p, {n: a.column for n, a in fresh.items()}) for p in pairs]
    return _mark(b, plan, test("is_null", conjunction(moved)))


def scalar(b: Binder, node: exp.Subquery) -> Bound:
    """A subquery as a value: NULL for no row, and an error for more than one."""
    bound = bind_query(b, node)
    if len(bound.columns) != 1:
        raise b.mismatch("a subquery used as a value must have one column", node)
    attribute = bound.columns[0][1]
    if has_one_row(bound.plan):
        b.pending.append(Pending("inner", bound.plan))
        return attribute.column
    if has_at_most_one_row(bound.plan):
        b.pending.append(Pending("left", bound.plan))
        return attribute.widened().column
    return _checked(b, bound)


def _checked(b: Binder, bound: BoundQuery) -> Expression:
    """The value of a subquery that might have several rows, which is an error then."""
    numbers = b.session.numbers
    column = bound.columns[0][1].column
    value = numbers.fresh("value", Literal(None, column.type))
    rows = numbers.fresh("rows", Literal(0, BIGINT))
    calls = (AggregateCall(value, "min", column), AggregateCall(rows, "count", None))
    several = predicate("gt", rows.column, Literal(1, BIGINT))
    said = Call("case", (several, Literal(_TOO_MANY, TEXT), Literal("false", TEXT)), TEXT, False)
    failing = cast(said, BOOL)
    none = Literal(None, column.type)
    checked = Call("case", (failing, none, value.column), column.type, True)
    result = numbers.fresh(bound.columns[0][0], checked)
    plan = Project(Aggregate(bound.plan, (), calls), ((result, checked),))
    b.pending.append(Pending("inner", plan))
    return result.column


def decided(b: Binder, node: exp.Expr, wanted: bool = True) -> Expression:
    """A condition that is true exactly where `node` is `wanted`: false and NULL are the same."""
    match node:
        case exp.Paren():
            return decided(b, node.this, wanted)
        case exp.Not():
            return decided(b, node.this, not wanted)
        case exp.And() | exp.Or():
            parts = [decided(b, part, wanted) for part in node.flatten()]
            return conjunction(parts) if isinstance(node, exp.And) == wanted else disjunction(parts)
        case exp.In() if node.args.get("query") is not None:
            found, unknown = _membership(b, node.this, node.args["query"], node, not wanted)
            if wanted:
                return found
            return conjunction(negation(c) for c in (found, unknown) if c != FALSE)
    condition = b.condition(node)
    return condition if wanted else negation(condition)


HANDLERS: dict[type[exp.Expr], Handler] = {
    exp.Exists: Handler(exists, ("this",)),
    exp.In: Handler(in_, ("this", "expressions", "query")),
    exp.Subquery: Handler(scalar, ("this",)),
}
