"""Lowers functions of text to steps."""

from math import inf

import pyarrow as pa

from ivm.dataflow.expressions import Call, Literal
from ivm.errors import Unsupported
from ivm.expressions.compiler import Assembly, Lowering
from ivm.expressions.families import gives, literal_text, takes, wants
from ivm.values import letter_case

_TRIMMED_SIDES = {"ltrim": 1, "rtrim": 2, "trim": 3}


def _change_case(a: Assembly, call: Call) -> int:
    wants(call, "text")
    gives(call, "text")
    return a.emit(call.function, (a.register(call.arguments[0]),), call.type)


def _trim(a: Assembly, call: Call) -> int:
    wants(call, "text")
    gives(call, "text")
    sides = _TRIMMED_SIDES[call.function]
    return a.emit("trim", (a.register(call.arguments[0]),), call.type, p=sides)


def _concat(a: Assembly, call: Call) -> int:
    takes(call, 1, inf)
    wants(call, *("text" for _ in call.arguments))
    gives(call, "text")
    out, *rest = [a.register(e) for e in call.arguments]
    while rest:
        out = a.emit("concat", (out, *rest[:2]), call.type)
        rest = rest[2:]
    return out


def _simple(result: str, *families: str) -> Lowering:
    """A kernel of the function's name: a `result` of arguments of these families."""

    def lower(a: Assembly, call: Call) -> int:
        wants(call, *families)
        gives(call, result)
        return a.emit(call.function, tuple(a.register(e) for e in call.arguments), call.type)

    return lower


def _failing(reason: str, result: str, *families: str) -> Lowering:
    """As `_simple`, where the kernel may fail for `reason`."""

    def lower(a: Assembly, call: Call) -> int:
        wants(call, *families)
        gives(call, result)
        registers = tuple(a.register(e) for e in call.arguments)
        message = a.complaint(reason, call)
        return a.emit(call.function, registers, call.type, message=message)

    return lower


def _like(a: Assembly, call: Call) -> int:
    wants(call, "text", "text")
    gives(call, "bool")
    if call.arguments[1] == Literal(None, pa.string()):
        return a.register(Literal(None, call.type))
    if not isinstance(call.arguments[1], Literal):
        return _like_any(a, call)
    pattern = literal_text(call, 1)
    if (len(pattern) - len(pattern.rstrip("\\"))) % 2:
        raise Unsupported("a pattern that ends in an escape character")
    text = a.register(call.arguments[0])
    if call.function == "ilike":
        text = a.emit("lower", (text,), pa.string())
        pattern = letter_case.lower(pattern)
    return a.emit("like", (text, a.literal(pattern, pa.string())), call.type)


def _like_any(a: Assembly, call: Call) -> int:
    """A pattern that varies."""
    registers = [a.register(e) for e in call.arguments]
    if call.function == "ilike":
        registers = [a.emit("lower", (r,), pa.string()) for r in registers]
    message = a.complaint("a pattern that ends in an escape character", call)
    return a.emit("like_any", tuple(registers), call.type, message=message)


WORDING: dict[str, Lowering] = {
    "lower": _change_case,
    "upper": _change_case,
    **dict.fromkeys(_TRIMMED_SIDES, _trim),
    "concat": _concat,
    "length": _simple("signed", "text"),
    "substring": _failing("negative length", "text", "text", "signed", "signed"),
    "replace": _simple("text", "text", "text", "text"),
    "split_part": _failing("field position zero", "text", "text", "text", "signed"),
    "position": _simple("signed", "text", "text"),
    "starts_with": _simple("bool", "text", "text"),
    "like": _like,
    "ilike": _like,
}
