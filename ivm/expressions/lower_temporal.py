"""Lowers functions of dates and timestamps to steps, in the argument's own unit."""

import pyarrow as pa

from ivm.dataflow.expressions import Call
from ivm.errors import Unsupported
from ivm.expressions.compiler import Assembly, Lowering
from ivm.expressions.families import family, gives, integer_range, literal_text, takes, wants
from ivm.expressions.kernels.temporal import FIELDS
from ivm.expressions.lower_arithmetic import MAX_DIGITS, rescale
from ivm.values.type_names import shown

DAY_MICROS = 86_400_000_000
_MICROS = {"hour": 3_600_000_000, "minute": 60_000_000, "second": 1_000_000, "milliseconds": 1000}
_DAYS = ("day", "week", "month", "quarter", "year", "decade", "century", "millennium")
_WITH_FRACTION = ("epoch", "second", "milliseconds")
_MICRO_DIGITS = 6


def _unit(type_: pa.DataType) -> int:
    """The microseconds that a date or a timestamp counts."""
    return DAY_MICROS if family(type_) == "date" else 1


def _offset(bits: int, argument: str) -> Lowering:
    """A date or timestamp of `bits` bits, and a number of its own unit."""

    def lower(a: Assembly, call: Call) -> int:
        wants(call, argument, "signed")
        gives(call, argument)
        registers = tuple(a.register(e) for e in call.arguments)
        low, high = -(1 << (bits - 1)), (1 << (bits - 1)) - 1
        overflow = a.complaint(f"{shown(call.type)} out of range", call)
        return a.emit("add_signed", registers, call.type, p=low, q=high, overflow=overflow)

    return lower


def _between(argument: str) -> Lowering:
    def lower(a: Assembly, call: Call) -> int:
        wants(call, argument, argument)
        gives(call, "signed")
        registers = tuple(a.register(e) for e in call.arguments)
        low, high = integer_range(call.type)
        overflow = a.complaint(f"{shown(call.type)} out of range", call)
        return a.emit("subtract_signed", registers, call.type, p=low, q=high, overflow=overflow)

    return lower


def _add_months(a: Assembly, call: Call) -> int:
    takes(call, 2, 2)
    instant = _instant(call, 0)
    wants(call, instant, "signed")
    gives(call, instant)
    registers = tuple(a.register(e) for e in call.arguments)
    unit = _unit(call.arguments[0].type)
    overflow = a.complaint(f"{shown(call.type)} out of range", call)
    return a.emit("add_months", registers, call.type, q=unit, overflow=overflow)


def _instant(call: Call, position: int) -> str:
    """The family of an argument that must be a date or a timestamp."""
    name = family(call.arguments[position].type)
    if name not in ("date", "timestamp"):
        raise Unsupported(f"{call.function} of {call.arguments[position].type}")
    return name


def _extract(a: Assembly, call: Call) -> int:
    takes(call, 2, 2)
    name = literal_text(call, 0).lower()
    _instant(call, 1)
    argument = call.arguments[1]
    if name not in FIELDS:
        raise Unsupported(f"extract of field '{name}'")
    registers, unit = (a.register(argument),), _unit(argument.type)
    if family(call.type) == "signed":
        return a.emit("extract", registers, call.type, p=FIELDS[name], q=unit)
    if family(call.type) != "decimal" or name not in _WITH_FRACTION:
        raise Unsupported(f"extract of field '{name}' as {shown(call.type)}")
    wide = pa.decimal128(MAX_DIGITS, _MICRO_DIGITS)
    out = a.emit("extract_micros", registers, wide, p=FIELDS[name], q=unit)
    if call.type == wide:
        return out
    overflow = a.complaint(f"{shown(call.type)} out of range", call)
    return rescale(a, out, _MICRO_DIGITS, call.type, overflow)


def _date_trunc(a: Assembly, call: Call) -> int:
    takes(call, 2, 2)
    gives(call, "timestamp")
    name = literal_text(call, 0).lower()
    kind = _instant(call, 1)
    overflow = a.complaint(f"{shown(call.type)} out of range", call)
    register = a.register(call.arguments[1])
    if name in _DAYS:
        number, unit = FIELDS[name], _unit(call.arguments[1].type)
        return a.emit("truncate", (register,), call.type, p=number, q=unit, overflow=overflow)
    if name not in _MICROS and name != "microseconds":
        raise Unsupported(f"date_trunc to '{name}'")
    if kind == "date":
        return a.emit("date_to_timestamp", (register,), call.type, overflow=overflow)
    if name == "microseconds":
        return register
    return a.emit("truncate_micros", (register,), call.type, p=_MICROS[name])


DATING: dict[str, Lowering] = {
    "add_days": _offset(32, "date"),
    "add_micros": _offset(64, "timestamp"),
    "add_months": _add_months,
    "days_between": _between("date"),
    "micros_between": _between("timestamp"),
    "extract": _extract,
    "date_trunc": _date_trunc,
}
