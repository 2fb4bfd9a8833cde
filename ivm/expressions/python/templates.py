"""Functions that write and read values by templates: `to_char`, `to_date`, `to_number`."""

from collections.abc import Callable
from decimal import Decimal
from functools import lru_cache
from typing import Any

import pyarrow as pa

from ivm.dataflow.expressions import Call
from ivm.expressions.families import family
from ivm.expressions.python.script import Script
from ivm.values import number_templates, template_reader, template_writer
from ivm.values.calendar import DAY
from ivm.values.types import Interval

_KEPT = 256  # templates whose tokens are kept, of each kind
_DOUBLE_DIGITS, _SINGLE_DIGITS = 15, 6

_interval_writer = lru_cache(_KEPT)(template_writer.interval_writer)
_moment_writer = lru_cache(_KEPT)(template_writer.writer)
_moment_reader = lru_cache(_KEPT)(template_reader.reader)
_number_writer = lru_cache(_KEPT)(number_templates.writer)
_number_reader = lru_cache(_KEPT)(number_templates.reader)


def to_char(call: Call) -> Callable[[Any, str], str]:
    """Make the function from a value of the first argument's type, and a template, to text."""
    kind = call.arguments[0].type
    match family(kind):
        case "date":
            return lambda days, template: _moment_writer(template)(days * DAY)
        case "timestamp":
            zoned = isinstance(kind, pa.TimestampType) and kind.tz is not None
            return lambda micros, template: _moment_writer(template, zoned)(micros)
        case "interval":
            return lambda value, template: _interval_writer(template)(value)
        case "time":
            return lambda micros, template: _interval_writer(template)(Interval(0, 0, micros))
        case "float":
            digits = _SINGLE_DIGITS if pa.types.is_float32(kind) else _DOUBLE_DIGITS
            return lambda value, template: _number_writer(template, digits)(value)
    return lambda value, template: _number_writer(template)(Decimal(value))


def to_moment(call: Call) -> Callable[[str, str], int]:
    """Make `to_date` or `to_timestamp(text, template)`."""
    unit = DAY if pa.types.is_date32(call.type) else 1
    return lambda text, template: _moment_reader(template)(text) // unit


SCRIPTS: dict[str, Script] = {
    "to_char": Script(to_char, ("any", "text"), made=True),
    "to_moment": Script(to_moment, ("text", "text"), made=True),
    "to_number": Script(
        lambda text, template: _number_reader(template)(text), ("text", "text"), nullable=True
    ),
}
