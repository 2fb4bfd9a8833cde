"""Binds the operators and functions of jsonb. `json` is the same type here."""

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.types import JSON
from views.plan.scalars import call, predicate
from views.sql.base.binder import Binder, Handler, name
from views.sql.base.coercion import BIGINT, BOOL, INT, TEXT, Bound, Untyped, cast, is_integer
from views.sql.base.signatures import Signature, Signatures
from views.types import type_name

TEXTS: pa.DataType = pa.list_(TEXT)
_EMPTY_OBJECT = Literal("{}", JSON)
_EMPTY_ARRAY = Literal("[]", JSON)


def _document(b: Binder, node: exp.Expr, operator: str) -> Expression:
    value = b.value(node, JSON)
    if value.type != JSON:
        raise b.mismatch(f"{operator} takes jsonb on its left; cast it", node)
    return value


def _taken(function: str, result: pa.DataType, *arguments: Expression) -> Call:
    """Types a part of a document, NULL where there is none."""
    return Call(function, arguments, result, True)


def arrow(b: Binder, node: exp.JSONExtract | exp.JSONExtractScalar) -> Bound:
    """Binds `document -> key` and `document ->> key`: a member by name, or an item from 0."""
    as_text = isinstance(node, exp.JSONExtractScalar)
    document = _document(b, node.this, "->>" if as_text else "->")
    suffix, result = ("_text", TEXT) if as_text else ("", JSON)
    step: Expression = _step(b, node.expression)
    if step.type == TEXT:
        return _taken("json_member" + suffix, result, document, step)
    if not is_integer(step.type):
        raise b.mismatch("a key is text or an integer", node.expression)
    return _taken("json_item" + suffix, result, document, cast(step, BIGINT))


def _step(b: Binder, node: exp.Expr) -> Expression:
    """The key or position that an arrow takes; sqlglot makes a path of a constant."""
    if not isinstance(node, exp.JSONPath):
        return b.value(node)
    last = node.expressions[-1]
    if isinstance(last, exp.JSONPathSubscript):
        return Literal(int(last.this), BIGINT)
    return Literal(str(last.this), TEXT)


def path(b: Binder, node: exp.JSONBExtract | exp.JSONBExtractScalar) -> Bound:
    """Binds `document #> path` and `document #>> path`."""
    as_text = isinstance(node, exp.JSONBExtractScalar)
    document = _document(b, node.this, "#>>" if as_text else "#>")
    steps = b.as_type(node.expression, TEXTS, "a path")
    if as_text:
        return _taken("json_path_text", TEXT, document, steps)
    return _taken("json_path", JSON, document, steps)


def has_key(b: Binder, node: exp.Binary) -> Bound:
    """Binds `document ? key`, `?| keys` and `?& keys`."""
    document = _document(b, node.this, "?")
    if isinstance(node, exp.JSONBContainsTopKey):
        key = b.as_type(node.expression, TEXT, "a key")
        return predicate("json_has", document, key)
    keys = b.as_type(node.expression, TEXTS, "the keys")
    every = isinstance(node, exp.JSONBContainsAllTopKeys)
    return predicate("json_has_all" if every else "json_has_any", document, keys)


def delete_path(b: Binder, node: exp.JSONBDeleteAtPath) -> Bound:
    """Binds `document #- path`."""
    steps = b.as_type(node.expression, TEXTS, "a path")
    return call("json_without_path", _document(b, node.this, "#-"), steps, result=JSON)


def arithmetic(
    b: Binder, function: str, left: Bound, right: Bound, node: exp.Binary
) -> Bound | None:
    """Binds `document - key` and `document - position`."""
    if isinstance(left, Untyped) or left.type != JSON or function != "subtract":
        return None
    key = b.typed(right, TEXT, node.right)
    if key.type == TEXTS:
        return call("json_without_all", left, key, result=JSON)
    if key.type == TEXT:
        return call("json_without", left, key, result=JSON)
    if is_integer(key.type):
        return call("json_without_item", left, cast(key, BIGINT), result=JSON)
    return None


def _build_object(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`jsonb_build_object(key, value, …)`."""
    if len(arguments) % 2:
        raise b.mismatch("jsonb_build_object() takes pairs of a key and a value", node)
    document: Expression = _EMPTY_OBJECT
    for key, value in zip(arguments[::2], arguments[1::2], strict=True):
        name = b.explicit_cast(key, TEXT, node)
        document = Call("json_put", (document, name, value), JSON, True)
    return document


def _build_array(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`jsonb_build_array(value, …)`."""
    document: Expression = _EMPTY_ARRAY
    for value in arguments:
        document = Call("json_push", (document, value), JSON, True)
    return document


def _extract_path(function: str, result: pa.DataType) -> Signature:
    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        steps: Expression = Literal((), TEXTS)
        for step in arguments[1:]:
            steps = Call("array_append", (steps, step), TEXTS, True)
        return _taken(function, result, arguments[0], steps)

    return Signature((JSON, TEXT), build=build, variadic=True)


def _row(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`row_to_json(row [, pretty])`; a document keeps no spaces."""
    if not pa.types.is_struct(arguments[0].type):
        raise b.mismatch(f"row_to_json() takes a row, not {name(arguments[0])}", node)
    return call("to_json", arguments[0], result=JSON)


def _object(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`jsonb_object(text[])`: keys and values by turns, or as pairs."""
    (pairs,) = arguments
    if isinstance(pairs, Literal) and isinstance(pairs.value, str):
        nested = pairs.value.lstrip().startswith("{{")
        pairs = b.typed(Untyped(pairs.value), pa.list_(TEXTS) if nested else TEXTS, node)
    if pairs.type not in (TEXTS, pa.list_(TEXTS)):
        raise b.mismatch(f"jsonb_object() takes text[], not {type_name(pairs.type)}", node)
    return call("json_object", pairs, result=JSON)


def _compact(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`array_to_json(array)`."""
    if arguments[1:] not in ([], [Literal(False, BOOL)]):
        raise b.session.source.unsupported(
            "array_to_json() with line feeds", node, "write jsonb_pretty(to_jsonb(…))"
        )
    return call("to_json", arguments[0], result=JSON)


def _delete(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
    """`jsonb_delete(document, key, …)`."""
    keys: Expression = Literal((), TEXTS)
    for key in arguments[1:]:
        keys = Call("array_append", (keys, key), TEXTS, True)
    return call("json_without_all", arguments[0], keys, result=JSON)


def _item(function: str, key: pa.DataType, result: pa.DataType) -> tuple[Signature, ...]:
    return (Signature((JSON, key), result, function, nullable=True),)


_TRUE, _FALSE = Literal(True, BOOL), Literal(False, BOOL)
_OBJECT_OF = (
    Signature(("any",), build=_object),
    Signature((TEXTS, TEXTS), JSON, "json_object_of"),
)
_TYPEOF = (Signature((JSON,), TEXT, "json_typeof"),)
_LENGTH = (Signature((JSON,), INT, "json_array_length"),)
_TO_JSON = (Signature(("any",), JSON, "to_json"),)
_OBJECT = (Signature(("any",), build=_build_object, variadic=True),)
_ARRAY = (Signature(("any",), build=_build_array, variadic=True),)
_PATH = (_extract_path("json_path", JSON),)
_PATH_TEXT = (_extract_path("json_path_text", TEXT),)
_STRIPPED = (Signature((JSON,), JSON, "json_strip_nulls"),)
FUNCTIONS: Signatures = {
    "jsonb_array_length": _LENGTH,
    "json_array_length": _LENGTH,
    "jsonb_build_array": _ARRAY,
    "json_build_array": _ARRAY,
    "jsonb_build_object": _OBJECT,
    "json_build_object": _OBJECT,
    "json_extract_path": _PATH,
    "json_extract_path_text": _PATH_TEXT,
    "jsonb_extract_path": _PATH,
    "jsonb_extract_path_text": _PATH_TEXT,
    "array_to_json": (
        Signature(("array",), build=_compact),
        Signature(("array", BOOL), build=_compact),
    ),
    "json_array_element": _item("json_item", BIGINT, JSON),
    "json_array_element_text": _item("json_item_text", BIGINT, TEXT),
    "json_object": _OBJECT_OF,
    "json_object_field": _item("json_member", TEXT, JSON),
    "json_object_field_text": _item("json_member_text", TEXT, TEXT),
    "json_strip_nulls": _STRIPPED,
    "jsonb_array_element": _item("json_item", BIGINT, JSON),
    "jsonb_array_element_text": _item("json_item_text", BIGINT, TEXT),
    "jsonb_concat": (Signature((JSON, JSON), JSON, "json_concat"),),
    "jsonb_contained": (
        Signature((JSON, JSON), build=lambda b, n, a: predicate("json_contains", *a[::-1])),
    ),
    "jsonb_contains": (Signature((JSON, JSON), BOOL, "json_contains"),),
    "jsonb_delete": (
        Signature((JSON, TEXT), JSON, "json_without"),
        Signature((JSON, TEXTS), JSON, "json_without_all"),
        Signature((JSON, BIGINT), JSON, "json_without_item"),
        Signature((JSON, TEXT, TEXT), build=_delete, variadic=True),
    ),
    "jsonb_delete_path": (Signature((JSON, TEXTS), JSON, "json_without_path"),),
    "jsonb_exists": (Signature((JSON, TEXT), BOOL, "json_has"),),
    "jsonb_exists_all": (Signature((JSON, TEXTS), BOOL, "json_has_all"),),
    "jsonb_exists_any": (Signature((JSON, TEXTS), BOOL, "json_has_any"),),
    "jsonb_insert": (
        Signature((JSON, TEXTS, JSON, BOOL), JSON, "json_insert", defaults=(_FALSE,)),
    ),
    "jsonb_object": _OBJECT_OF,
    "jsonb_object_field": _item("json_member", TEXT, JSON),
    "jsonb_object_field_text": _item("json_member_text", TEXT, TEXT),
    "jsonb_pretty": (Signature((JSON,), TEXT, "json_pretty"),),
    "jsonb_set": (Signature((JSON, TEXTS, JSON, BOOL), JSON, "json_set", defaults=(_TRUE,)),),
    "jsonb_set_lax": (
        Signature(
            (JSON, TEXTS, JSON, BOOL, TEXT),
            JSON,
            "json_set_lax",
            defaults=(_TRUE, Literal("use_json_null", TEXT)),
            nullable=True,
        ),
    ),
    "jsonb_strip_nulls": _STRIPPED,
    "jsonb_typeof": _TYPEOF,
    "json_typeof": _TYPEOF,
    "row_to_json": (Signature(("any", BOOL), build=_row, defaults=(Literal(False, BOOL),)),),
    "to_json": _TO_JSON,
    "to_jsonb": _TO_JSON,
}
_BINARY = ("this", "expression", "only_json_types", "scalar_only")
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.JSONBContainsAllTopKeys: Handler(has_key, _BINARY),
    exp.JSONBContainsAnyTopKeys: Handler(has_key, _BINARY),
    exp.JSONBContainsTopKey: Handler(has_key, _BINARY),
    exp.JSONBDeleteAtPath: Handler(delete_path, _BINARY),
    exp.JSONBExtract: Handler(path, _BINARY),
    exp.JSONBExtractScalar: Handler(path, _BINARY),
    exp.JSONExtract: Handler(arrow, _BINARY),
    exp.JSONExtractScalar: Handler(arrow, _BINARY),
}
