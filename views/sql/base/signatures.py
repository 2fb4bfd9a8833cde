"""Overload resolution: of a function's signatures a call takes the one that fits best.

As in PostgreSQL an argument fits a parameter of its own type best, then one that its type converts
to implicitly; a quoted constant fits any.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.errors import Unsupported
from ivm.values.types import INTERVAL
from views.errors import InvalidLiteral, UnknownFunction
from views.sql.base.binder import Binder, Given, name
from views.sql.base.coercion import (
    BIGINT,
    DATE,
    DIGITS,
    DOUBLE,
    INT,
    TEXT,
    TIME,
    TIMESTAMP,
    TIMESTAMPTZ,
    Bound,
    Untyped,
    cast,
    is_integer,
    promoted,
    scale_of,
)
from views.sql.base.parameters import PARAMETERS, by_place, is_named

Parameter = pa.DataType | str
"""A type; or `numeric`, of any scale; `integer`, of any width; `array`; or `any`."""

Result = pa.DataType | Callable[[Sequence[pa.DataType]], pa.DataType]
Build = Callable[[Binder, exp.Expr, list[Expression]], Expression]

_WIDER: dict[pa.DataType, tuple[Parameter, ...]] = {
    DATE: (TIMESTAMP, TIMESTAMPTZ),
    TIME: (INTERVAL,),
    TIMESTAMP: (TIMESTAMPTZ,),
}


@dataclass(frozen=True, slots=True)
class Signature:
    """Parameters of a function, and its result: `function` of type `result`, or made by `build`.

    `defaults` stand for the last parameters where they are left out. `nullable`: NULL may come of
    arguments that are not. `chosen`: the type of the first argument chooses among signatures, so
    that it cannot be a quoted constant.
    """

    takes: tuple[Parameter, ...]
    result: Result = TEXT
    function: str = ""
    defaults: tuple[Literal, ...] = ()
    nullable: bool = False
    build: Build | None = None
    variadic: bool = False
    chosen: bool = False


Signatures = dict[str, tuple[Signature, ...]]


def bind_call(
    b: Binder, node: exp.Expr, function: str, nodes: Sequence[exp.Expr], known: Signatures
) -> Expression:
    """Binds the call of `function` with the arguments `nodes` (raises UnknownFunction)."""
    if any(map(is_named, nodes)):
        nodes = _in_order(b, node, function, nodes, known[function][0].defaults)
    bounds = [b.bind(n) for n in nodes]
    fitting = [
        (rank, i, signature)
        for i, signature in enumerate(known[function])
        if (rank := _rank(signature, bounds)) is not None
    ]
    if not fitting:
        given = ", ".join(name(bound) for bound in bounds)
        offered = "; ".join(_spelled(function, s) for s in known[function])
        raise b.fault(UnknownFunction, f"no function {function}({given}); there is {offered}", node)
    signature = min(fitting, key=lambda f: f[:2])[2]
    kinds = [x.type for x in bounds if not isinstance(x, Untyped) and _is_array(x.type)]
    arguments = [
        _converted(b, bound, parameter, n, kinds)
        for bound, parameter, n in zip(
            bounds, _parameters(signature, len(bounds)), nodes, strict=True
        )
    ]
    missing = len(signature.takes) - len(arguments)
    if missing > 0 and signature.defaults:
        arguments += signature.defaults[-missing:]
    if signature.build is not None:
        return signature.build(b, node, arguments)
    return made(signature.function or function, signature, arguments)


def _in_order(
    b: Binder,
    node: exp.Expr,
    function: str,
    nodes: Sequence[exp.Expr],
    defaults: Sequence[Literal],
) -> list[exp.Expr]:
    """Arguments with names in the order of the parameters, and `defaults` between them."""
    try:
        placed = by_place(function, nodes)
    except ValueError as error:
        raise b.fault(UnknownFunction, str(error), node) from error
    first = len(PARAMETERS[function]) - len(defaults)
    if None in placed[:first]:
        missing = PARAMETERS[function][placed.index(None)]
        raise b.fault(UnknownFunction, f"{function}() lacks its argument {missing!r}", node)
    return [Given(this=defaults[i - first]) if n is None else n for i, n in enumerate(placed)]


def made(function: str, signature: Signature, arguments: Sequence[Expression]) -> Expression:
    """Makes the call of an engine's function by a signature."""
    result = signature.result
    kind = result if isinstance(result, pa.DataType) else result([a.type for a in arguments])
    nullable = signature.nullable or any(a.nullable for a in arguments)
    return Call(function, tuple(arguments), kind, nullable)


def _parameters(signature: Signature, count: int) -> tuple[Parameter, ...]:
    extra = count - len(signature.takes)
    if signature.variadic and extra > 0:
        return (*signature.takes, *signature.takes[-1:] * extra)
    return signature.takes[:count]


def _rank(signature: Signature, bounds: Sequence[Bound]) -> int | None:
    """Counts the conversions that the arguments need; None where they do not fit."""
    least = len(signature.takes) - (1 if signature.variadic else len(signature.defaults))
    most = len(signature.takes)
    if len(bounds) < least or (len(bounds) > most and not signature.variadic):
        return None
    if signature.chosen and isinstance(bounds[0], Untyped):
        return None
    parameters = _parameters(signature, len(bounds))
    ranks = [_distance(b, p) for b, p in zip(bounds, parameters, strict=True)]
    fitting = [r for r in ranks if r is not None]
    return sum(fitting) if len(fitting) == len(ranks) else None


def _distance(bound: Bound, parameter: Parameter) -> int | None:
    if isinstance(bound, Untyped):
        return 0
    kind = bound.type
    if parameter == "any" or kind == parameter:
        return 0
    if parameter == "array":
        return 0 if isinstance(kind, pa.ListType) else None
    if parameter == "integer":
        return 0 if is_integer(kind) and is_integer(promoted(kind)) else None
    if parameter == "numeric":
        return 0 if pa.types.is_decimal(kind) else 1 if is_integer(kind) else None
    if parameter == DOUBLE:
        return (
            1
            if is_integer(kind) or pa.types.is_floating(kind)
            else 2
            if pa.types.is_decimal(kind)
            else None
        )
    if parameter in (INT, BIGINT):
        wide = promoted(kind)
        return 1 if is_integer(wide) and wide.bit_width <= parameter.bit_width else None
    return 1 if parameter in _WIDER.get(kind, ()) else None


def _is_array(kind: pa.DataType) -> bool:
    return isinstance(kind, pa.ListType)


def _converted(
    b: Binder, bound: Bound, parameter: Parameter, node: exp.Expr, arrays: Sequence[pa.DataType]
) -> Expression:
    """`bound` as `parameter` wants it; a constant array has the type of the first of `arrays`."""
    if parameter == "array" and isinstance(bound, Untyped):
        if not arrays:
            raise b.mismatch("what type has this array? cast it", node)
        return b.typed(bound, arrays[0], node)
    if isinstance(parameter, pa.DataType):
        return cast(b.typed(bound, parameter, node), parameter)
    if parameter == "numeric":
        value = b.typed(bound, pa.decimal128(DIGITS, 10), node)
        return value if pa.types.is_decimal(value.type) else cast(value, pa.decimal128(DIGITS, 0))
    if parameter == "integer":
        value = b.typed(bound, INT, node)
        return cast(value, promoted(value.type))
    return b.typed(bound, TEXT, node)


def _spelled(function: str, signature: Signature) -> str:
    parts = []
    for parameter in signature.takes:
        if isinstance(parameter, str):
            parts.append(parameter)
        else:
            parts.append(name(Literal(None, parameter)))
    return f"{function}({', '.join(parts)})"


def same_as(position: int) -> Callable[[Sequence[pa.DataType]], pa.DataType]:
    """Types the result as the argument at `position`."""
    return lambda kinds: kinds[position]


def scaled(kinds: Sequence[pa.DataType]) -> pa.DataType:
    """Types the result as numeric of the largest scale among the arguments."""
    return pa.decimal128(DIGITS, max(scale_of(kind) for kind in kinds))


def constant_texts(
    b: Binder, node: exp.Expr, arguments: Sequence[Expression], what: str
) -> list[str]:
    """Reads the values of arguments that must be constants (raises UnsupportedSql)."""
    values = []
    for argument in arguments:
        if not isinstance(argument, Literal) or not isinstance(argument.value, str):
            raise b.session.source.unsupported(f"{what} that is not constant", node)
        values.append(argument.value)
    return values


def checked(b: Binder, node: exp.Expr, check: Callable[[], object]) -> None:
    """Runs a check of constants; its refusal gets the place of `node`."""
    try:
        check()
    except Unsupported as error:
        what, _, instead = str(error).partition("; ")
        raise b.session.source.unsupported(what, node, instead) from error
    except ValueError as error:
        raise b.fault(InvalidLiteral, str(error), node) from error
