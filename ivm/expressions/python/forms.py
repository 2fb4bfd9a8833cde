"""Casts to and from text: a writer and a reader of values for each type."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa

from ivm.errors import Unsupported
from ivm.expressions.families import family, scale_of
from ivm.expressions.python.script import Script
from ivm.expressions.python.texts import bytes_text, text_bytes
from ivm.values.forms import (
    date_text,
    float_text,
    parse_bool,
    parse_decimal,
    parse_float,
    parse_int,
    parse_uuid,
    time_text,
    timestamp_text,
)
from ivm.values.interval_text import parse_interval, spelled
from ivm.values.moment_text import parse_date, parse_time, parse_timestamp
from ivm.values.types import NUMERIC

_SINGLE_DIGITS = 6


def _zoned(type_: pa.DataType) -> bool:
    assert isinstance(type_, pa.TimestampType)
    return type_.tz is not None


def writer(type_: pa.DataType) -> Callable[[Any], str]:
    """Make the function that writes a value of a type, as its cast to text (raises Unsupported)."""
    name = family(type_)
    if name == "decimal":
        digits = scale_of(type_)
        if type_ == NUMERIC:
            return lambda value: f"{value:.{digits}f}".rstrip("0").rstrip(".")
        return lambda value: f"{value:.{digits}f}"
    if name == "timestamp":
        zone = "+00" if _zoned(type_) else ""
        return lambda value: timestamp_text(value, zone)
    if pa.types.is_float32(type_):
        return lambda value: float_text(float(str(np.float32(value))), _SINGLE_DIGITS)
    if name not in _WRITERS:
        raise Unsupported(f"text of {type_}")
    return _WRITERS[name]


_WRITERS: dict[str, Callable[[Any], str]] = {
    "bool": lambda value: "true" if value else "false",
    "signed": str,
    "unsigned": str,
    "float": float_text,
    "text": str,
    "json": str,
    "uuid": str,
    "binary": bytes_text,
    "date": date_text,
    "time": time_text,
    "interval": spelled,
}


def reader(type_: pa.DataType) -> Callable[[str], Any]:
    """Make the function that reads a value of a type; it raises ValueError for no value."""
    name = family(type_)
    if name == "timestamp":
        zoned = _zoned(type_)
        return lambda text: parse_timestamp(text, zoned)
    if name not in _READERS:
        raise Unsupported(f"{type_} from text")
    return _READERS[name]


_READERS: dict[str, Callable[[str], Any]] = {
    "bool": parse_bool,
    "signed": parse_int,
    "unsigned": parse_int,
    "float": parse_float,
    "decimal": parse_decimal,
    "text": str,
    "binary": text_bytes,
    "uuid": parse_uuid,
    "date": parse_date,
    "time": parse_time,
    "interval": parse_interval,
}
CASTS: dict[tuple[str, str], Script] = {
    ("text", "binary"): Script(text_bytes, ("text",)),
    ("binary", "text"): Script(bytes_text, ("binary",)),
    ("text", "uuid"): Script(parse_uuid, ("text",)),
    ("uuid", "text"): Script(str, ("uuid",)),
    ("interval", "text"): Script(spelled, ("interval",)),
}
