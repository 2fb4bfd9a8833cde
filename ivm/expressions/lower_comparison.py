"""Lowers comparisons, three-valued logic and choices to steps."""

from functools import reduce
from math import inf

from ivm.dataflow.expressions import Call, Expression
from ivm.errors import Unsupported
from ivm.expressions.compiler import Assembly, Lowering
from ivm.expressions.families import comparison, family, gives, same_family, scale_of, takes, wants
from ivm.values.type_names import shown

# The kernel for words, whether its arguments are swapped, and the truth mask of the others.
_COMPARISONS = {
    "eq": ("eq_word", False, 0b010),
    "ne": ("ne_word", False, 0b101),
    "lt": ("lt_word", False, 0b001),
    "le": ("le_word", False, 0b011),
    "gt": ("lt_word", True, 0b100),
    "ge": ("le_word", True, 0b110),
}


def _compare(a: Assembly, call: Call) -> int:
    takes(call, 2, 2)
    gives(call, "bool")
    left, right = call.arguments
    _comparable(call, call.arguments)
    kernel, swapped, mask = _COMPARISONS[call.function]
    registers = (a.register(left), a.register(right))
    kind = comparison(left.type)
    if kind == "decimal" or (kind == "string" and call.function not in ("eq", "ne")):
        return a.emit(f"compare_{kind}", registers, call.type, p=mask)
    return a.emit(kernel, registers[::-1] if swapped else registers, call.type)


def _comparable(call: Call, expressions: tuple[Expression, ...]) -> None:
    """Raises Unsupported for values that do not compare by their words."""
    if same_family(call, *expressions) == "decimal":
        scales = {scale_of(e.type) for e in expressions}
        if len(scales) > 1:
            raise Unsupported(f"{call.function} of decimals of scales {sorted(scales)}")


def _chosen(call: Call, expressions: tuple[Expression, ...]) -> None:
    """Raises Unsupported for values that are not what the call gives."""
    _comparable(call, (call, *expressions))


def _distinct(a: Assembly, call: Call) -> int:
    takes(call, 2, 2)
    gives(call, "bool")
    _comparable(call, call.arguments)
    left, right = call.arguments
    equal = int(call.function == "is_not_distinct")
    registers = (a.register(left), a.register(right))
    return a.emit("distinct", registers, call.type, nullable=False, p=equal)


def _null_test(a: Assembly, call: Call) -> int:
    takes(call, 1, 1)
    gives(call, "bool")
    argument = a.register(call.arguments[0])
    null = int(call.function == "is_null")
    return a.emit("null_test", (argument,), call.type, nullable=False, p=null)


def _connect(a: Assembly, call: Call) -> int:
    takes(call, 1, inf)
    wants(call, *("bool" for _ in call.arguments))
    gives(call, "bool")

    def pair(left: int, right: int) -> int:
        cells = (a.cells[left], a.cells[right])
        if any(c.fallible for c in cells):
            return a.emit("decide", (left, right), call.type, p=int(call.function == "or"))
        kind = "nulls" if any(c.nullable for c in cells) else "plain"
        return a.emit(f"{call.function}_{kind}", (left, right), call.type)

    return reduce(pair, [a.register(e) for e in call.arguments])


def _not(a: Assembly, call: Call) -> int:
    wants(call, "bool")
    gives(call, "bool")
    return a.emit("negation", (a.register(call.arguments[0]),), call.type)


def _case(a: Assembly, call: Call) -> int:
    takes(call, 1, inf)
    *branches, otherwise = call.arguments
    conditions, values = branches[::2], branches[1::2]
    if len(conditions) != len(values) or any(family(c.type) != "bool" for c in conditions):
        raise Unsupported(f"case of ({', '.join(shown(e.type) for e in call.arguments)})")
    _chosen(call, (otherwise, *values))
    out = a.register(otherwise)
    for condition, value in reversed(list(zip(conditions, values, strict=True))):
        registers = (a.register(condition), a.register(value), out)
        nullable = a.cells[registers[1]].nullable or a.cells[out].nullable
        out = a.emit("choose", registers, call.type, nullable=nullable)
    return out


def _coalesce(a: Assembly, call: Call) -> int:
    takes(call, 1, inf)
    _chosen(call, call.arguments)
    *firsts, out = [a.register(e) for e in call.arguments]
    for first in reversed(firsts):
        nullable = a.cells[first].nullable and a.cells[out].nullable
        out = a.emit("coalesce", (first, out), call.type, nullable=nullable)
    return out


def _extreme(a: Assembly, call: Call) -> int:
    takes(call, 1, inf)
    _chosen(call, call.arguments)
    kernel = f"extreme_{comparison(call.type)}"
    side = 1 if call.function == "greatest" else -1

    def pair(left: int, right: int) -> int:
        nullable = a.cells[left].nullable and a.cells[right].nullable
        return a.emit(kernel, (left, right), call.type, nullable=nullable, p=side)

    return reduce(pair, [a.register(e) for e in call.arguments])


CHOOSING: dict[str, Lowering] = {
    **dict.fromkeys(_COMPARISONS, _compare),
    "is_distinct": _distinct,
    "is_not_distinct": _distinct,
    "is_null": _null_test,
    "is_not_null": _null_test,
    "and": _connect,
    "or": _connect,
    "not": _not,
    "case": _case,
    "coalesce": _coalesce,
    "greatest": _extreme,
    "least": _extreme,
}
