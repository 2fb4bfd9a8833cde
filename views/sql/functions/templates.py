"""Binds functions that write and read values by templates: `to_char`, `to_date`, `to_number`."""

from collections.abc import Callable

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values import number_templates, template_reader, template_writer
from ivm.values.types import INTERVAL, NUMERIC
from views.plan.scalars import call
from views.sql.base.binder import Binder
from views.sql.base.coercion import (
    DATE,
    DIGITS,
    DOUBLE,
    TEXT,
    TIMESTAMP,
    TIMESTAMPTZ,
    is_number,
)
from views.sql.base.signatures import Parameter, Signature, Signatures, checked


def _check(b: Binder, node: exp.Expr, template: Expression, read: Callable[[str], object]) -> None:
    """Reads a constant template, so that a wrong one is refused at its place."""
    if isinstance(template, Literal) and isinstance(template.value, str):
        text = template.value
        checked(b, node, lambda: read(text))


def _writing(parameter: Parameter) -> Signature:
    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        value, template = arguments
        if is_number(value.type):
            _check(b, node, template, number_templates.parsed)
        elif value.type == INTERVAL:
            _check(b, node, template, template_writer.interval_writer)
        return call("to_char", value, template, result=TEXT)

    return Signature((parameter, TEXT), build=build, chosen=True)


def _reading(result: pa.DataType) -> Signature:
    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        _check(b, node, arguments[1], template_reader.reader)
        return call("to_moment", *arguments, result=result)

    return Signature((TEXT, TEXT), build=build)


def _to_number(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`to_number(text, template)`: numeric, with the digits that a constant template has."""
    text, template = arguments
    _check(b, node, template, number_templates.reader)
    result = NUMERIC
    if isinstance(template, Literal) and isinstance(template.value, str):
        places = number_templates.parsed(template.value)
        result = pa.decimal128(DIGITS, min(places.after + places.shifted, DIGITS))
    return Call("to_number", (text, template), result, True)


FUNCTIONS: Signatures = {
    "to_char": tuple(
        _writing(kind)
        for kind in (TIMESTAMPTZ, TIMESTAMP, INTERVAL, "integer", "numeric", DOUBLE, pa.float32())
    ),
    "to_date": (_reading(DATE),),
    "to_number": (Signature((TEXT, TEXT), build=_to_number),),
    "to_timestamp": (Signature((DOUBLE,), TIMESTAMPTZ, "from_epoch"), _reading(TIMESTAMPTZ)),
}
