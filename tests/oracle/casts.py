"""`cast` between types, as PostgreSQL does it with DateStyle ISO in UTC."""

import math
import re
from datetime import UTC, date, datetime, time
from decimal import Decimal

import pyarrow as pa

from tests.oracle.values import EXACT, NAN, Error, Outcome, Scalar, fit, has_zone

_TRUE = ("true", "yes", "on", "1")
_FALSE = ("false", "no", "off", "0")


def cast(value: Scalar, source: pa.DataType, target: pa.DataType) -> Outcome:
    """`value`, not NULL, as `target`; an Error where it has no such value."""
    if source == target:
        return value
    if pa.types.is_string(target):
        return text(value)
    if isinstance(value, str):
        return _parse(value.strip(), target)
    if pa.types.is_boolean(target):
        return value != 0
    if isinstance(value, bool):
        return fit(int(value), target)
    if isinstance(value, float):
        return _from_float(value, target)
    if isinstance(value, int):
        return fit(value, target)
    if isinstance(value, Decimal):
        if pa.types.is_integer(target):
            return fit(value.quantize(Decimal(1), context=EXACT), target)
        return fit(value, target)
    if isinstance(value, date):
        return _from_moment(value, target)
    raise AssertionError(f"the oracle cannot cast {source} to {target}")


def text(value: Scalar) -> str:
    """The text form of a value."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return _float_text(value)
        case datetime():
            seconds = value.replace(tzinfo=None).isoformat(" ", "seconds")
            fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
            return seconds + fraction + ("+00" if value.tzinfo else "")
        case time():
            fraction = f".{value.microsecond:06}".rstrip("0") if value.microsecond else ""
            return value.strftime("%H:%M:%S") + fraction
        case Decimal():
            return f"{value:f}"
        case _:
            return str(value)


def _float_text(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    sign, digits, exponent = Decimal(repr(value)).normalize().as_tuple()
    assert isinstance(exponent, int)
    scientific = len(digits) + exponent - 1
    if -4 <= scientific < 15:
        return f"{Decimal(repr(value)).normalize():f}"
    mantissa = "".join(map(str, digits))
    head = mantissa[0] + ("." + mantissa[1:] if len(mantissa) > 1 else "")
    return f"{'-' if sign else ''}{head}e{'+' if scientific >= 0 else '-'}{abs(scientific):02}"


def _from_float(value: float, target: pa.DataType) -> Outcome:
    if pa.types.is_floating(target):
        return _single(value, target) if math.isfinite(value) else value
    if not math.isfinite(value):
        return Error(f"{target} out of range")
    if pa.types.is_integer(target):
        return fit(round(value), target)
    return fit(Decimal(f"{value:.15g}"), target)


def _single(value: float, target: pa.DataType) -> Outcome:
    """A float that is not zero unless the given one is."""
    nearest = fit(value, target)
    return Error("float out of range") if nearest == 0 and value != 0 else nearest


def _from_moment(value: date, target: pa.DataType) -> Outcome:
    moment = value if isinstance(value, datetime) else datetime(value.year, value.month, value.day)
    if pa.types.is_date(target):
        return moment.date()
    if pa.types.is_time(target):
        return moment.time()
    return moment.replace(tzinfo=UTC if has_zone(target) else None)


def _parse(value: str, target: pa.DataType) -> Outcome:
    bad = Error(f"invalid input for {target}: {value!r}")
    if pa.types.is_boolean(target):
        return _parse_bool(value.lower(), bad)
    try:
        if pa.types.is_integer(target):
            return fit(int(value), target) if re.fullmatch(r"[+-]?\d+", value) else bad
        if pa.types.is_floating(target):
            return _parse_float(value, target, bad)
        if pa.types.is_decimal(target):
            good = re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value)
            return fit(Decimal(value), target) if good else bad
        if pa.types.is_date(target):
            return datetime.fromisoformat(value).date()
        if pa.types.is_time(target):
            return time.fromisoformat(value)
        moment = datetime.fromisoformat(value)
    except ValueError:
        return bad
    if has_zone(target):
        return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
    return moment.replace(tzinfo=None)


def _parse_bool(value: str, bad: Error) -> Outcome:
    true = [w for w in _TRUE if value and w.startswith(value)]
    false = [w for w in _FALSE if value and w.startswith(value)]
    return bad if bool(true) == bool(false) else bool(true)


def _parse_float(value: str, target: pa.DataType, bad: Error) -> Outcome:
    if "_" in value:
        return bad
    number = float(value)
    if math.isnan(number):
        return NAN
    if math.isinf(number):
        return number if "inf" in value.lower() else Error("float out of range")
    if number == 0 and re.search("[1-9]", value.lower().partition("e")[0]):
        return Error("float out of range")
    return _single(number, target)
