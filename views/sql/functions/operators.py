"""Binds operators: arithmetic, comparison, logic, CASE and constants."""

from itertools import chain

import pyarrow as pa
from sqlglot import exp

from ivm.constants import computed
from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import INTERVAL
from views.plan.scalars import (
    FALSE,
    TRUE,
    call,
    conjunction,
    disjunction,
    negation,
    otherwise,
    predicate,
    test,
)
from views.sql.base import digits, literals
from views.sql.base.binder import Binder, Handler, name
from views.sql.base.coercion import (
    BOOL,
    INT,
    Bound,
    Untyped,
    arithmetic_type,
    cast,
    is_number,
    is_stored_in_order,
    promoted,
    scale_of,
)
from views.sql.functions import casts, documents, moving, rows, temporal

_ARITHMETIC: dict[type[exp.Expr], tuple[str, str]] = {
    exp.Add: ("add", "+"),
    exp.Sub: ("subtract", "-"),
    exp.Mul: ("multiply", "*"),
    exp.Div: ("divide", "/"),
    exp.Mod: ("modulo", "%"),
}
COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
    exp.NullSafeEQ: "is_not_distinct",
    exp.NullSafeNEQ: "is_distinct",
}
SYMBOLS = {
    "eq": "=",
    "ne": "<>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "is_not_distinct": "IS NOT DISTINCT FROM",
    "is_distinct": "IS DISTINCT FROM",
}


def arithmetic(b: Binder, node: exp.Binary) -> Bound:
    """Binds `+ - * / %` of numbers, or of dates, timestamps and intervals."""
    function, symbol = _ARITHMETIC[type(node)]
    sides = (node.left, node.right)
    left, right = b.beside_numbers([b.bind(side) for side in sides], sides)
    for family in (temporal.arithmetic, documents.arithmetic):
        found = family(b, function, left, right, node)
        if found is not None:
            return found
    if isinstance(left, Untyped) and not isinstance(right, Untyped):
        left = b.typed(left, right.type, node.left)
    if isinstance(right, Untyped) and not isinstance(left, Untyped):
        right = b.typed(right, left.type, node.right)
    if isinstance(left, Untyped) or isinstance(right, Untyped):
        raise b.mismatch(f"no operator {name(left)} {symbol} {name(right)}", node)
    if not (is_number(left.type) and is_number(right.type)):
        raise b.mismatch(f"no operator {name(left)} {symbol} {name(right)}", node)
    return _number_arithmetic(function, left, right)


def _number_arithmetic(function: str, left: Expression, right: Expression) -> Expression:
    result = arithmetic_type(left.type, right.type)
    if not isinstance(result, pa.Decimal128Type):
        return call(function, cast(left, result), cast(right, result), result=result)
    if function in ("multiply", "divide"):
        kind = digits.product if function == "multiply" else digits.quotient
        given = (_as_decimal(left, None), _as_decimal(right, None))
        return call(function, *given, result=kind(left, right))
    given = (_as_decimal(left, result.scale), _as_decimal(right, result.scale))
    return call(function, *given, result=result)


def _as_decimal(value: Expression, scale: int | None) -> Expression:
    """`value` as a decimal of this scale (None: of its own)."""
    wanted = scale_of(value.type) if scale is None else scale
    if pa.types.is_decimal(value.type) and scale_of(value.type) == wanted:
        return value
    return cast(value, pa.decimal128(38, wanted))


def compare(b: Binder, function: str, symbol: str, left: exp.Expr, right: exp.Expr) -> Expression:
    """Binds a comparison of two values of one type."""
    return compare_bound(b, function, symbol, (left, b.bind(left)), (right, b.bind(right)))


def compare_bound(
    b: Binder,
    function: str,
    symbol: str,
    left: tuple[exp.Expr, Bound],
    right: tuple[exp.Expr, Bound],
) -> Expression:
    """Compares two bound expressions."""
    x, y = b.same_type(
        [left[0], right[0]], f"operator {symbol}", [left[1], right[1]], compared=True
    )
    if x.type == INTERVAL:
        x, y = temporal.span(x), temporal.span(y)
    if not is_stored_in_order(x.type) and function in ("lt", "le", "gt", "ge"):
        x, y = call("compare_keys", x, y, result=INT), Literal(0, INT)
    if function in ("is_distinct", "is_not_distinct"):
        return test(function, x, y)
    return predicate(function, x, y)


def connective(b: Binder, node: exp.Connector) -> Bound:
    """Binds `AND` and `OR`, however many; the operand that decides is found from the left."""
    b = b.of_one_row()
    decides = FALSE if isinstance(node, exp.And) else TRUE
    arguments: list[Expression] = []
    for part in node.flatten():
        undecided = (test("is_distinct", a, decides) for a in arguments)
        arguments.append(b.under(part, undecided).condition(part))
    return conjunction(arguments) if isinstance(node, exp.And) else disjunction(arguments)


def not_(b: Binder, node: exp.Not) -> Bound:
    return negation(b.of_one_row().condition(node.this))


def negate(b: Binder, node: exp.Neg) -> Bound:
    constant = _signed(node)
    if constant is not None:
        return _number(constant)
    value = b.bind(node.this)
    if isinstance(value, Untyped):
        raise b.mismatch("no operator - unknown; cast the constant", node)
    if value.type == INTERVAL:
        return moving.negated(value)
    if not is_number(value.type):
        raise b.mismatch(f"no operator - {name(value)}", node)
    negative = call("negate", cast(value, promoted(value.type)), result=promoted(value.type))
    return computed(negative) if isinstance(value, Literal) else negative


def is_(b: Binder, node: exp.Is) -> Bound:
    """Binds `IS [NOT] NULL | TRUE | FALSE`."""
    negated = bool(node.args.get("negate"))
    if isinstance(node.expression, exp.Null):
        value = rows.row_or_value(b, node.this)
        given = value.values if isinstance(value, rows.Row) else [value]
        return conjunction(test("is_not_null" if negated else "is_null", v) for v in given)
    value = b.value(node.this)
    if not isinstance(node.expression, exp.Boolean) or value.type != BOOL:
        raise b.mismatch("IS takes NULL, or TRUE and FALSE of a condition", node)
    wanted = TRUE if node.expression.this else FALSE
    return test("is_distinct" if negated else "is_not_distinct", value, wanted)


def case(b: Binder, node: exp.Case) -> Bound:
    """Binds both forms of CASE."""
    b = b.of_one_row()
    value = None if node.this is None else (node.this, b.bind(node.this))
    conditions: list[Expression] = []
    nodes, bounds = [], []
    for branch in node.args["ifs"]:
        when, then = branch.this, branch.args["true"]
        asked = b.under(when, map(otherwise, conditions))
        if value is None:
            conditions.append(asked.condition(when))
        else:
            conditions.append(compare_bound(b, "eq", "=", value, (when, asked.bind(when))))
        met = chain(map(otherwise, conditions[:-1]), conditions[-1:])
        nodes.append(then)
        bounds.append(b.under(then, met).bind(then))
    default = node.args.get("default") or exp.Null()
    nodes.append(default)
    bounds.append(b.under(default, map(otherwise, conditions)).bind(default))
    values = b.same_type(nodes, "CASE", bounds)
    branches = [part for pair in zip(conditions, values, strict=False) for part in pair]
    nullable = any(v.nullable for v in values)
    return Call("case", (*branches, values[-1]), values[0].type, nullable)


def literal(b: Binder, node: exp.Literal) -> Bound:
    if node.is_string:
        return Untyped(node.this)
    return _number(node.this)


def _signed(node: exp.Expr) -> str | None:
    """The text of an unquoted number with the signs before it, if that is all there is."""
    match node:
        case exp.Literal() if not node.is_string:
            return str(node.this)
        case exp.Paren():
            return _signed(node.this)
        case exp.Neg():
            text = _signed(node.this)
            if text is not None:
                return text[1:] if text.startswith("-") else f"-{text}"
    return None


def _number(text: str) -> Bound:
    try:
        return literals.number(text)
    except (ValueError, ArithmeticError):
        return Untyped(text, is_number=True)


_BINARY = ("this", "expression")
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    **{kind: Handler(arithmetic, (*_BINARY, "typed", "safe")) for kind in _ARITHMETIC},
    exp.And: Handler(connective, _BINARY),
    exp.Or: Handler(connective, _BINARY),
    exp.Not: Handler(not_, ("this",)),
    exp.Neg: Handler(negate, ("this",)),
    exp.Is: Handler(is_, (*_BINARY, "negate")),
    exp.Case: Handler(case, ("this", "ifs", "default")),
    exp.Cast: Handler(casts.cast, ("this", "to")),
    exp.Literal: Handler(literal, ("this", "is_string")),
    exp.Boolean: Handler(lambda b, node: TRUE if node.this else FALSE, ("this",)),
    exp.Null: Handler(lambda b, node: Untyped(None), ()),
    exp.Paren: Handler(lambda b, node: b.bind(node.this), ("this",)),
}
