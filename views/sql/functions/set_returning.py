"""Binds functions that return sets: `unnest`, `generate_series` and those of documents.

Each is an array whose elements become rows: in FROM, or in the select list, which expands them.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import INTERVAL, JSON
from views.errors import UnsupportedSql
from views.plan.nodes import Attribute, Map, Plan, Unnest
from views.plan.scalars import call
from views.sql.base.binder import Binder
from views.sql.base.coercion import BIGINT, BOOL, INT, TEXT, TIMESTAMP, TIMESTAMPTZ
from views.sql.base.computations import SetCall, attach
from views.sql.base.scope import Session
from views.sql.base.signatures import Signature, Signatures, bind_call
from views.sql.functions import arrays, json_paths, patterns

_TEXTS: pa.DataType = pa.list_(TEXT)
_DOCUMENTS: pa.DataType = pa.list_(JSON)


def _series(kind: pa.DataType) -> tuple[Signature, ...]:
    """Of integers; the step is 1 where it is not given."""
    step = Literal(1, kind)
    return (Signature((kind, kind, kind), pa.list_(kind), "series", defaults=(step,)),)


def _moments(kind: pa.DataType) -> Signature:
    return Signature((kind, kind, INTERVAL), pa.list_(kind), "moment_series")


def _subscripts(b: Binder, node: exp.Expr, given: list[Expression]) -> Expression:
    """`generate_subscripts(array, dimension, reverse)`."""
    *array, backward = given
    length = Call("coalesce", (Call("array_length", tuple(array), INT, True), _ZERO), INT, False)
    if not isinstance(backward, Literal):
        raise b.session.source.unsupported("generate_subscripts() by a varying order", node)
    ends = (length, _ONE, Literal(-1, INT)) if backward.value else (_ONE, length, _ONE)
    return call("series", *ends, result=pa.list_(INT))


_ZERO, _ONE = Literal(0, INT), Literal(1, INT)
_SETS: Signatures = {
    "generate_series": (
        *_series(INT),
        *_series(BIGINT),
        _moments(TIMESTAMP),
        _moments(TIMESTAMPTZ),
    ),
    "generate_subscripts": (
        Signature(("array", BIGINT, BOOL), build=_subscripts, defaults=(Literal(False, BOOL),)),
    ),
    "jsonb_array_elements": (Signature((JSON,), _DOCUMENTS, "json_items"),),
    "jsonb_array_elements_text": (Signature((JSON,), _TEXTS, "json_items_text"),),
    "jsonb_each": (Signature((JSON,), _DOCUMENTS, "json_pairs"),),
    "jsonb_each_text": (Signature((JSON,), _DOCUMENTS, "json_pairs"),),
    "jsonb_object_keys": (Signature((JSON,), _TEXTS, "json_keys"),),
    "string_to_table": arrays.FUNCTIONS["string_to_array"],
    "unnest": (Signature(("array",), build=lambda b, node, given: arrays.flat(given[0])),),
}
SETS: Signatures = {
    **_SETS,
    **json_paths.SETS,
    **patterns.SETS,
    **{f.replace("jsonb", "json"): s for f, s in _SETS.items() if f.startswith("jsonb")},
}
_NAMED = {"array_elements": "value", "array_elements_text": "value"}


@dataclass(frozen=True, slots=True)
class Called:
    """A call, at `node`, of the `function` that returns a set, with its arguments."""

    function: str
    arguments: Sequence[exp.Expr]
    node: exp.Expr


@dataclass(frozen=True, slots=True)
class Rows:
    """The rows of functions in FROM: the plan, its columns, and the position among the rows."""

    plan: Plan
    columns: tuple[tuple[str, Attribute], ...]
    position: Attribute


def calls_of(node: exp.Expr) -> list[Called]:
    """Lists the calls that `node` makes, if it is a function that returns a set, or several."""
    if isinstance(node, exp.Unnest):
        return [Called("unnest", [array], node) for array in node.expressions]
    if isinstance(node, exp.Explode):
        return [Called("unnest", [node.this, *node.expressions], node)]
    if isinstance(node, exp.Anonymous) and node.name.lower() in SETS:
        return [Called(node.name.lower(), node.expressions, node)]
    return []


def rows_of(session: Session, b: Binder, called: Sequence[Called], under: Plan) -> Rows:
    """Makes the rows of calls in lockstep, for each row of `under`, with the subqueries of `b`."""
    uses = [_use(b, each) for each in called]
    position = session.numbers.new("ordinality", BIGINT, False)
    arrays, elements = tuple(u.array for u in uses), tuple(u.element for u in uses)
    plan: Plan = Unnest(attach(under, b.pending), arrays, elements, position)
    columns: list[tuple[str, Attribute]] = []
    made: list[tuple[Attribute, Expression]] = []
    for each, use in zip(called, uses, strict=True):
        if not is_pairs(each.function):
            shown = _NAMED.get(each.function.partition("_")[2], each.function)
            columns.append((shown, use.element))
            continue
        for name, value in pair(each.function, use.element):
            made.append((session.numbers.fresh(name, value), value))
            columns.append((name, made[-1][0]))
    if made:
        kept = ((a, a.column) for a in (*elements, position))
        plan = Map(plan, (*kept, *made))
    return Rows(plan, tuple(columns), position)


def is_pairs(function: str) -> bool:
    """Tells whether the elements of a function's set are pairs of a key and a value."""
    return "_each" in function


def pair(function: str, element: Attribute) -> list[tuple[str, Expression]]:
    """Takes the columns of a pair apart."""
    text = function.endswith("_text")
    read, kind = ("json_item_text", TEXT) if text else ("json_item", JSON)
    key = Call("json_item_text", (element.column, Literal(0, BIGINT)), TEXT, True)
    value = Call(read, (element.column, Literal(1, BIGINT)), kind, True)
    return [("key", key), ("value", value)]


def element_of(b: Binder, called: Called) -> Attribute:
    """Collects a call for the query to expand, and gives the column of its elements."""
    if b.set_calls is None:
        raise b.fault(
            UnsupportedSql,
            f"{called.function}() makes rows, which only the select list, GROUP BY and ORDER BY "
            "have, and not inside CASE, COALESCE, AND, OR, NOT, an aggregate or a window; call "
            f"it in FROM: FROM …, {called.function}(…) AS x",
            called.node,
        )
    use = _use(b, called)
    known = next((u for u in b.set_calls if u.array == use.array), None)
    if known is not None:
        return known.element
    b.set_calls.append(use)
    return use.element


def _use(b: Binder, called: Called) -> SetCall:
    """The array of a call's elements; a function that returns one value has one."""
    if called.function in SETS:
        array = bind_call(b, called.node, called.function, called.arguments, SETS)
    else:
        value = b.value(called.node)
        whole = pa.list_(value.type)
        array = Call("array_append", (Literal((), whole), value), whole, False)
    kind = array.type
    assert isinstance(kind, pa.ListType)
    element = b.session.numbers.new(called.function, kind.value_type, True)
    return SetCall(array, element, called.node)
