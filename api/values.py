"""Values of columns as texts in URLs: the texts that the answers' JSON has, read by column type.

Integers, floats, booleans and lists are read as JSON writes them, and of floats those that it lacks
as the answers do; decimals, dates, times and timestamps as in the answers (strings, ISO 8601);
binary is base64; intervals, UUIDs and documents are read as PostgreSQL reads them.
"""

import re
from base64 import b64decode
from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import lru_cache
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.types as kinds
from orjson import JSONDecodeError, loads

from api.errors import BadParameter
from connectors.columns.faults import ValueFault
from connectors.columns.to_arrow import to_array
from connectors.tables.spec import type_name
from ivm.values.documents import canonical
from ivm.values.forms import parse_uuid
from ivm.values.interval_text import parse_interval
from ivm.values.types import INTERVAL, JSON, UUID, arrow_array, interval_constant

_NATURAL = re.compile(r"[0-9]{1,18}")
_DATE = re.compile(r"-?[0-9]{4,7}-[0-9]{2}-[0-9]{2}")


def is_natural(text: str) -> bool:
    """Whether `text` is a time or an offset: decimal digits, of a number that 64 bits hold."""
    return _NATURAL.fullmatch(text) is not None


def parse(text: str, field: pa.Field) -> Any:
    """The Python value of `field`'s type that `text` denotes (raises BadParameter)."""
    try:
        value = _reader(field.type)(text)
        arrow_array([value], field.type)
    except (ValueError, ValueFault, pa.ArrowException, OverflowError, RecursionError) as error:
        raise BadParameter(
            f"column {field.name!r} is {type_name(field.type)}; {text!r} is no such value"
        ) from error
    return value


@lru_cache
def _reader(dtype: pa.DataType) -> Callable[[str], Any]:
    readers: list[tuple[Callable[[pa.DataType], bool], Callable[[str], Any]]] = [
        (kinds.is_string, str),
        (kinds.is_integer, lambda text: _typed(_json(text), dtype)),
        (kinds.is_decimal, lambda text: _typed(text, dtype)),
        (kinds.is_floating, lambda text: _typed(_float(text), dtype)),
        (kinds.is_boolean, lambda text: _typed(_json(text), dtype)),
        (kinds.is_date, _date),
        (kinds.is_time, lambda text: _typed(text, dtype)),
        (kinds.is_timestamp, lambda text: _timestamp(text, "tz=" in str(dtype))),
        (kinds.is_binary, lambda text: b64decode(text, validate=True)),
        (lambda t: t == INTERVAL, lambda text: interval_constant(parse_interval(text))),
        (lambda t: t == UUID, parse_uuid),
        (lambda t: t == JSON, canonical),
        (kinds.is_list, lambda text: _typed(_json(text), dtype)),
    ]
    return next(read for matches, read in readers if matches(dtype))


def _typed(value: Any, dtype: pa.DataType) -> Any:
    """`value` as records have it, strictly (raises ValueFault)."""
    return to_array([value], pa.field("", dtype, nullable=False))[0].as_py()


def _float(text: str) -> Any:
    """As `_json`; an integer that no float is exactly is the nearest one, which it may denote."""
    value = _json(text)
    return float(value) if type(value) is int else value


def _json(text: str) -> Any:
    """The value of a JSON text; any other text is itself, as NaN is."""
    try:
        return loads(text)
    except JSONDecodeError:
        return text


def _date(text: str) -> date | int:
    """A date; where Python's begin or end, the days since 1970."""
    try:
        return date.fromisoformat(text)
    except ValueError:
        return _distant(text, text, "D")


def _timestamp(text: str, zoned: bool) -> datetime | int:
    """An instant in UTC, or a local timestamp; a text of the other kind is refused.

    Where Python's begin or end it is the microseconds since 1970.
    """
    try:
        value = datetime.fromisoformat(text)
    except ValueError:
        local = text.removesuffix("Z") if zoned else text
        if zoned and local == text:
            raise
        return _distant(local, local.partition("T")[0], "us")
    if (value.tzinfo is not None) != zoned:
        raise ValueError(text)
    return value.astimezone(UTC) if zoned else value


def _distant(text: str, day: str, unit: Literal["D", "us"]) -> int:
    if _DATE.fullmatch(day) is None:
        raise ValueError(text)
    return int(np.datetime64(text, unit).astype(np.int64))
