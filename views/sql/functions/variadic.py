"""Binds VARIADIC: the elements of an array as the last arguments of a call.

An array that is written out, or constant, is spread into the call. Of one that varies there are the
functions that join texts and follow paths.
"""

from collections.abc import Callable, Sequence

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import JSON
from views.plan.scalars import call
from views.sql.base.binder import Binder, Given, name
from views.sql.base.coercion import TEXT, Bound, cast
from views.sql.functions import arrays

_TEXTS = pa.list_(TEXT)


def variadic(b: Binder, node: exp.Func, function: str, given: Sequence[exp.Expr]) -> Bound | None:
    """Binds the call `node` of `function`, whose last argument is VARIADIC; None if it is not."""
    if not given or not isinstance(given[-1], exp.Variadic):
        return None
    items = _elements(b, given[-1].this)
    if items == [] and function in ("concat", "concat_ws"):
        return Literal("", TEXT)
    if not isinstance(items, Call):
        spread = type(node)(**{**node.args, "expressions": [*given[:-1], *items]})
        spread.parent = node
        return b.bind(spread)
    of_array = _OF_ARRAYS.get(function)
    if of_array is None or len(given) != 1 + (function != "concat"):
        raise b.session.source.unsupported(
            f"VARIADIC of an array that varies in {function}() (write its elements one by one)",
            node,
        )
    return of_array([b.typed(b.bind(n), _FIRST.get(function, TEXT), n) for n in given[:-1]], items)


def _elements(b: Binder, node: exp.Expr) -> list[exp.Expr] | Call:
    """The elements of an array, or the array where they vary."""
    while isinstance(node, exp.Paren):
        node = node.this
    if isinstance(node, exp.Array) and arrays.query_of(node) is None:
        return list(node.expressions)
    values = b.value(node, _TEXTS)
    if not isinstance(values.type, pa.ListType):
        raise b.mismatch(f"VARIADIC takes an array, not {name(values)}", node)
    if isinstance(values, Literal) and isinstance(values.value, tuple):
        kind = values.type.value_type
        return [Given(this=Literal(value, kind)) for value in values.value]
    return values if isinstance(values, Call) else call("array_flat", values, result=values.type)


def _joined(first: list[Expression], values: Expression) -> Expression:
    separator = first[0] if first else Literal("", TEXT)
    return call("array_to_string", values, separator, result=TEXT)


def _followed(function: str, result: pa.DataType) -> Callable[[list[Expression], Call], Expression]:
    return lambda first, steps: Call(function, (first[0], cast(steps, _TEXTS)), result, True)


_OF_ARRAYS: dict[str, Callable[[list[Expression], Call], Expression]] = {
    "concat": _joined,
    "concat_ws": _joined,
    "json_extract_path": _followed("json_path", JSON),
    "json_extract_path_text": _followed("json_path_text", TEXT),
    "jsonb_extract_path": _followed("json_path", JSON),
    "jsonb_extract_path_text": _followed("json_path_text", TEXT),
}
_FIRST = {function: JSON for function in _OF_ARRAYS if function.startswith("json")}
