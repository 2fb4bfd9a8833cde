"""Binds functions that return sets, in FROM: `unnest`, `generate_series` and those of documents.

Each is an array whose elements become rows.
"""

from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import INTERVAL, JSON
from views.plan.nodes import Attribute, Map, Plan, Unnest
from views.plan.scalars import call
from views.sql.base.binder import Binder
from views.sql.base.coercion import BIGINT, INT, TEXT, TIMESTAMP, TIMESTAMPTZ
from views.sql.base.scope import Session
from views.sql.base.signatures import Signature, Signatures, bind_call
from views.sql.functions import arrays, patterns

_TEXTS: pa.DataType = pa.list_(TEXT)
_DOCUMENTS: pa.DataType = pa.list_(JSON)
_NO_FLAGS = Literal("", TEXT)


def _series(kind: pa.DataType) -> tuple[Signature, ...]:
    """Of integers; the step is 1 where it is not given."""
    step = Literal(1, kind)
    return (Signature((kind, kind, kind), pa.list_(kind), "series", defaults=(step,)),)


def _moments(kind: pa.DataType) -> Signature:
    return Signature((kind, kind, INTERVAL), pa.list_(kind), "moment_series")


def _subscripts(b: Binder, node: exp.Expr, given: list[Expression]) -> Expression:
    """`generate_subscripts(array, 1)`."""
    length = Call("coalesce", (Call("array_length", tuple(given), INT, True), _ZERO), INT, False)
    return call("series", _ONE, length, _ONE, result=pa.list_(INT))


def _matches(b: Binder, node: exp.Expr, given: list[Expression]) -> Expression:
    build = patterns.matching("regexp_matches", pa.list_(_TEXTS))
    return build(b, node, given)


def _split(b: Binder, node: exp.Expr, given: list[Expression]) -> Expression:
    build = patterns.matching("regexp_split", _TEXTS)
    return build(b, node, given)


_ZERO, _ONE = Literal(0, INT), Literal(1, INT)
_SETS: Signatures = {
    "generate_series": (
        *_series(INT),
        *_series(BIGINT),
        _moments(TIMESTAMP),
        _moments(TIMESTAMPTZ),
    ),
    "generate_subscripts": (Signature(("array", BIGINT), build=_subscripts),),
    "jsonb_array_elements": (Signature((JSON,), _DOCUMENTS, "json_items"),),
    "jsonb_array_elements_text": (Signature((JSON,), _TEXTS, "json_items_text"),),
    "jsonb_each": (Signature((JSON,), _DOCUMENTS, "json_pairs"),),
    "jsonb_each_text": (Signature((JSON,), _DOCUMENTS, "json_pairs"),),
    "jsonb_object_keys": (Signature((JSON,), _TEXTS, "json_keys"),),
    "regexp_matches": (Signature((TEXT, TEXT, TEXT), build=_matches, defaults=(_NO_FLAGS,)),),
    "regexp_split_to_table": (Signature((TEXT, TEXT, TEXT), build=_split, defaults=(_NO_FLAGS,)),),
    "string_to_table": arrays.FUNCTIONS["string_to_array"],
    "unnest": (Signature(("array",), build=lambda b, node, given: arrays.flat(given[0])),),
}
SETS: Signatures = {
    **_SETS,
    **{f.replace("jsonb", "json"): s for f, s in _SETS.items() if f.startswith("jsonb")},
}
_NAMED = {"array_elements": "value", "array_elements_text": "value"}


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of a function in FROM: the plan, its columns, and the position among the rows."""

    plan: Plan
    columns: tuple[tuple[str, Attribute], ...]
    position: Attribute


def function_of(node: exp.Expr) -> tuple[str, list[exp.Expr]] | None:
    """Finds the name and the arguments of a function that returns a set, if `node` calls one."""
    if isinstance(node, exp.Unnest):
        return "unnest", node.expressions
    if isinstance(node, exp.Anonymous) and node.name.lower() in SETS:
        return node.name.lower(), node.expressions
    return None


def rows_of(
    session: Session, b: Binder, node: exp.Expr, under: Plan, function: str, given: list[exp.Expr]
) -> Rows:
    """Makes the rows of a call, for each row of `under`."""
    array = bind_call(b, node, function, given, SETS)
    kind = array.type
    assert isinstance(kind, pa.ListType)
    element = session.numbers.new(function, kind.value_type, True)
    position = session.numbers.new("ordinality", BIGINT, False)
    plan: Plan = Unnest(under, array, element, position)
    if "_each" not in function:
        shown = _NAMED.get(function.partition("_")[2], function)
        return Rows(plan, ((shown, element),), position)
    text = function.endswith("_text")
    pair: list[Expression] = [
        Call("json_item_text", (element.column, Literal(0, BIGINT)), TEXT, True),
        Call(
            "json_item_text" if text else "json_item",
            (element.column, Literal(1, BIGINT)),
            TEXT if text else JSON,
            True,
        ),
    ]
    made = [session.numbers.fresh(n, e) for n, e in zip(("key", "value"), pair, strict=True)]
    outputs: list[tuple[Attribute, Expression]] = [*zip(made, pair, strict=True)]
    outputs.append((position, position.column))
    return Rows(Map(plan, tuple(outputs)), tuple((a.name, a) for a in made), position)
