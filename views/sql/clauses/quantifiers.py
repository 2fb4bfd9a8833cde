"""Quantifiers: binds IN, ANY and ALL, and conditions of which only the truth matters.

`x op ANY (rows)` is true if the comparison is for some row; else NULL if it is NULL for some row;
else false. `x op ALL (rows)` is the negation of the opposite comparison with ANY. Of an ordering
the extremes of the rows decide, so that one aggregate takes the place of all pairs.
"""

from dataclasses import dataclass

from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from views.plan.nodes import AggregateCall, AggregateFunction, Filter, Plan, Reduce
from views.plan.scalars import (
    FALSE,
    TRUE,
    conjunction,
    disjunction,
    negation,
    otherwise,
    predicate,
    substitute,
    test,
)
from views.plan.trees import renamed
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import BIGINT, BOOL, Bound
from views.sql.base.scope import BoundQuery
from views.sql.clauses.subqueries import bind_query, mark, one_row, row_of
from views.sql.functions import arrays, row_comparison
from views.sql.functions.operators import COMPARISONS, SYMBOLS, compare_bound
from views.sql.functions.row_comparison import Value
from views.sql.source.text import QUERIES

_OPPOSITE = {"eq": "ne", "ne": "eq", "lt": "ge", "ge": "lt", "gt": "le", "le": "gt"}
_EXTREMES: dict[str, tuple[AggregateFunction, ...]] = {
    "lt": ("max",),
    "le": ("max",),
    "gt": ("min",),
    "ge": ("min",),
    "ne": ("min", "max"),
}


@dataclass(frozen=True, slots=True)
class Quantified:
    """`left function ANY (operand)`, negated or not; `operand` is a query or an array."""

    left: exp.Expr
    function: str
    operand: exp.Expr
    negated: bool


def quantified(node: exp.Expr) -> Quantified | None:
    """Recognises a comparison with ANY, ALL or IN; None if `node` is none."""
    if isinstance(node, exp.In):
        query = node.args.get("query") or _only_query(node.expressions)
        return None if query is None else Quantified(node.this, "eq", query, False)
    if type(node) not in COMPARISONS or not isinstance(node.expression, exp.Any | exp.All):
        return None
    function, operand = COMPARISONS[type(node)], operand_of(node.expression)
    if isinstance(node.expression, exp.Any):
        return Quantified(node.this, function, operand, False)
    return Quantified(node.this, _OPPOSITE.get(function, function), operand, True)


def operand_of(node: exp.Any | exp.All) -> exp.Expr:
    """Gives the query or array of ANY or ALL; the array of a query's rows is that query."""
    operand: exp.Expr = node.this
    while isinstance(operand, exp.Paren):
        operand = operand.this
    query = arrays.query_of(operand)
    return operand if query is None else query


def _only_query(items: list[exp.Expr]) -> exp.Expr | None:
    """The VALUES that an IN lists."""
    return items[0] if len(items) == 1 and isinstance(items[0], exp.Values) else None


def comparison(b: Binder, node: exp.Binary) -> Bound:
    """Binds `= <> < <= > >=` and `IS [NOT] DISTINCT FROM`, of values, rows, ANY and ALL."""
    asked = quantified(node)
    if asked is not None:
        return b.once(node, lambda: _answer(b, asked, node))
    left, right = (
        row_of(b, own, other) or row_comparison.values(b, own)
        for own, other in ((node.this, node.expression), (node.expression, node.this))
    )
    return row_comparison.compare(b, COMPARISONS[type(node)], left, right, node)


def in_(b: Binder, node: exp.In) -> Bound:
    """Binds `x IN (values)` and `x IN (subquery)`."""
    asked = quantified(node)
    if asked is not None:
        return b.once(node, lambda: _answer(b, asked, node))
    left = row_comparison.values(b, node.this)
    items = (row_comparison.values(b, item) for item in node.expressions)
    return disjunction(row_comparison.compare(b, "eq", left, item, node) for item in items)


def between(b: Binder, node: exp.Between) -> Bound:
    """Binds `x BETWEEN [SYMMETRIC] low AND high`, of values and rows."""
    value, low, high = (row_comparison.values(b, node.args[p]) for p in ("this", "low", "high"))

    def within(low: list[Value], high: list[Value]) -> Expression:
        above = row_comparison.compare(b, "ge", value, low, node)
        return conjunction([above, row_comparison.compare(b, "le", value, high, node)])

    if not node.args.get("symmetric"):
        return within(low, high)
    return disjunction([within(low, high), within(high, low)])


def _answer(b: Binder, asked: Quantified, node: exp.Expr) -> Expression:
    """Its value: true, false or NULL."""
    if asked.function not in _OPPOSITE:
        raise b.session.source.unsupported(f"{SYMBOLS[asked.function]} with ANY or ALL", node)
    operand = asked.operand
    items = operand.expressions if isinstance(operand, exp.Array) else []
    if isinstance(operand, exp.Array) and not any(isinstance(i, exp.Array) for i in items):
        left = row_comparison.values(b, asked.left)
        found = disjunction(
            row_comparison.compare(b, asked.function, left, row_comparison.values(b, item), node)
            for item in items
        )
    elif not isinstance(operand, QUERIES):
        found = arrays.any_of(b, asked.function, asked.left, operand)
    else:
        found = _among(b, asked, operand, node)
    return negation(found) if asked.negated else found


def _among(b: Binder, asked: Quantified, query: exp.Expr, node: exp.Expr) -> Expression:
    left, bound = _sides(b, asked, query, node)
    if asked.function in _EXTREMES and len(left) == 1:
        return _by_extremes(b, asked.function, left[0], bound, query)
    found, unknown = _membership(b, asked.function, left, bound, query, with_unknown=True)
    return found if unknown == FALSE else three_valued(found, unknown)


def three_valued(found: Expression, unknown: Expression) -> Expression:
    """Makes the condition that is true if `found`, else NULL if `unknown`."""
    return Call("case", (found, TRUE, unknown, Literal(None, BOOL), FALSE), BOOL, True)


def _sides(
    b: Binder, asked: Quantified, query: exp.Expr, node: exp.Expr
) -> tuple[list[Value], BoundQuery]:
    left, bound = row_comparison.values(b, asked.left), bind_query(b, query)
    if len(bound.columns) != len(left):
        raise b.mismatch(
            f"the subquery has {len(bound.columns)} columns where {len(left)} are compared", node
        )
    return left, bound


def _membership(
    b: Binder,
    function: str,
    left: list[Value],
    bound: BoundQuery,
    query: exp.Expr,
    *,
    with_unknown: bool,
) -> tuple[Expression, Expression]:
    """Whether some row of `bound` compares, and, if none does, whether that is unknown."""
    right: list[Value] = [(query, attribute.column) for _, attribute in bound.columns]
    compared = row_comparison.compare(b, function, left, right, query)
    found = mark(b, bound.plan, compared)
    if not with_unknown or not compared.nullable:
        return found, FALSE
    if len(left) > 1:
        return found, mark_unknown(b, bound.plan, compared)
    return found, _unknown(b, left[0], bound)


def _unknown(b: Binder, value: Value, bound: BoundQuery) -> Expression:
    """Tells whether the comparison is NULL for some row, by two marks that do not compare."""
    cases: list[Expression] = []
    attribute = bound.columns[0][1]
    if attribute.nullable:
        plan, fresh = renamed(bound.plan, b.session.numbers)
        column = fresh[attribute.number].column
        cases.append(mark(b, Filter(plan, test("is_null", column)), TRUE))
    x = b.typed(value[1], attribute.type, value[0])
    if x.nullable:
        plan, _ = renamed(bound.plan, b.session.numbers)
        cases.append(mark(b, plan, test("is_null", x)))
    return disjunction(cases)


def mark_unknown(b: Binder, plan: Plan, compared: Expression) -> Expression:
    """Makes a column that tells whether `compared` is NULL for a row of `plan`."""
    again, fresh = renamed(plan, b.session.numbers)
    moved = substitute(compared, {n: a.column for n, a in fresh.items()})
    return mark(b, again, test("is_null", moved))


def _by_extremes(
    b: Binder, function: str, value: Value, bound: BoundQuery, query: exp.Expr
) -> Expression:
    """`x function ANY (rows)` by the least or the greatest value of the rows."""
    numbers, column = b.session.numbers, bound.columns[0][1].column
    null, zero = Literal(None, column.type), Literal(0, BIGINT)
    extremes = [numbers.fresh(name, null) for name in _EXTREMES[function]]
    total, present = numbers.fresh("rows", zero), numbers.fresh("values", zero)
    calls = [
        AggregateCall(attribute, name, column)
        for attribute, name in zip(extremes, _EXTREMES[function], strict=True)
    ]
    calls += [AggregateCall(total, "count", None), AggregateCall(present, "count", column)]
    computed = Reduce(bound.plan, (), tuple(calls))
    every, known, *found = one_row(b, computed, [total, present, *extremes])
    x = b.typed(value[1], column.type, value[0])
    compared = (
        compare_bound(b, function, SYMBOLS[function], (value[0], x), (query, e)) for e in found
    )
    some = predicate("gt", every, zero)
    missing = predicate("gt", every, known)
    unknown = disjunction([conjunction([test("is_null", x), some]), missing])
    return three_valued(disjunction(compared), unknown)


def decided(b: Binder, node: exp.Expr, wanted: bool = True) -> Expression:
    """Makes a condition that is true exactly where `node` is `wanted`; NULL counts as false."""
    match node:
        case exp.Paren():
            return decided(b, node.this, wanted)
        case exp.Not():
            return decided(b, node.this, not wanted)
        case exp.And() | exp.Or():
            parts: list[Expression] = []
            is_all = isinstance(node, exp.And) == wanted
            for part in node.flatten():
                met = iter(parts) if is_all else map(otherwise, parts)
                parts.append(decided(b.under(part, met), part, wanted))
            return conjunction(parts) if is_all else disjunction(parts)
    asked = quantified(node)
    if asked is not None and asked.function == "eq" and isinstance(asked.operand, QUERIES):
        wanted = wanted != asked.negated
        left, bound = _sides(b, asked, asked.operand, node)
        found, unknown = _membership(b, "eq", left, bound, asked.operand, with_unknown=not wanted)
        if wanted:
            return found
        return conjunction(negation(c) for c in (found, unknown) if c != FALSE)
    condition = b.condition(node)
    return condition if wanted else negation(condition)


HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.Between: Handler(between, ("this", "low", "high", "symmetric")),
    exp.In: Handler(in_, ("this", "expressions", "query")),
    **{kind: Handler(comparison, ("this", "expression")) for kind in COMPARISONS},
}
