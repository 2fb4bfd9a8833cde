"""Binds constants and casts of intervals, whose type may name the fields that it keeps."""

from sqlglot import exp

from ivm.constants import computed
from ivm.dataflow.expressions import Expression, Literal
from ivm.values.interval_text import parse_interval, qualifier
from ivm.values.types import INTERVAL, interval_constant
from views.errors import InvalidLiteral
from views.plan.scalars import call
from views.sql.base.binder import Binder
from views.sql.base.coercion import TEXT, Bound, Untyped
from views.sql.base.signatures import checked


def constant(b: Binder, node: exp.Interval) -> Bound:
    """Binds `interval '1 day 2 hours'` or `interval '1-2' year to month`."""
    assert isinstance(node.this, exp.Literal)
    fields = node.args.get("unit")
    if fields is not None:
        checked(b, node, lambda: qualifier(fields.name))
    return _read(b, node.this.this, fields.name if fields else "", node.this)


def kept(b: Binder, bound: Bound, fields: exp.Var | None, node: exp.Expr) -> Expression:
    """Casts to an interval of certain fields; None for all of them."""
    if fields is None:
        return b.explicit_cast(bound, INTERVAL, node)
    checked(b, node, lambda: qualifier(fields.name))
    if isinstance(bound, Untyped) and bound.text is not None:
        return _read(b, bound.text, fields.name, node)
    span = b.explicit_cast(bound, INTERVAL, node)
    whole = call("fit_interval", span, Literal(fields.name, TEXT), result=INTERVAL)
    return computed(whole) if isinstance(span, Literal) else whole


def _read(b: Binder, text: str, fields: str, node: exp.Expr) -> Literal:
    """Reads a constant: its fields say which unit a bare number counts."""
    try:
        return Literal(interval_constant(parse_interval(text, qualifier(fields))), INTERVAL)
    except ValueError as error:
        problem = f"{text!r} is not an interval like '1 day 2 hours'"
        raise b.fault(InvalidLiteral, problem, node) from error
