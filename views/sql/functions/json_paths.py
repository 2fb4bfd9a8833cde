"""Binds the functions and operators of the SQL/JSON path language."""

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.values.json_path import parse_cached
from ivm.values.json_path_writer import written
from ivm.values.types import JSON
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import BOOL, TEXT, Bound
from views.sql.base.signatures import Signature, Signatures, checked

_NO_VARIABLES = Literal("{}", JSON)
_LOUD = Literal(False, BOOL)
_DOCUMENTS: pa.DataType = pa.list_(JSON)


def _function(
    function: str, result: pa.DataType, nullable: bool = False, zoned: bool = False
) -> tuple[Signature, ...]:
    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        _check(b, node, arguments[1])
        may_be_null = nullable or any(a.nullable for a in arguments)
        return Call(function, (*arguments, Literal(zoned, BOOL)), result, may_be_null)

    takes = (JSON, TEXT, JSON, BOOL)
    return (Signature(takes, build=build, defaults=(_NO_VARIABLES, _LOUD)),)


def _check(b: Binder, node: exp.Expr, path: Expression) -> None:
    """Checks a path that is constant."""
    if isinstance(path, Literal) and isinstance(path.value, str):
        text = path.value
        checked(b, node, lambda: parse_cached(text))


def _operator(b: Binder, node: exp.Expr, function: str, left: exp.Expr, right: exp.Expr) -> Bound:
    document = b.value(left, JSON)
    if document.type != JSON:
        raise b.session.source.unsupported(
            "@@ or @? of what is no jsonb", node, "cast it to jsonb; texts are searched by ~"
        )
    path = b.as_type(right, TEXT, "a JSON path")
    _check(b, node, path)
    return Call(function, (document, path), BOOL, True)


def exists(b: Binder, node: exp.JSONBPathExists) -> Bound:
    """Binds `document @? path`."""
    return _operator(b, node, "json_path_leads", node.this, node.expression)


def matches(b: Binder, node: exp.MatchAgainst) -> Bound:
    """Binds `document @@ path`."""
    return _operator(b, node, "json_path_holds", node.expressions[0], node.this)


def is_path(node: exp.Cast) -> bool:
    """Tells whether a cast makes a JSON path."""
    return bool(node.to.sql().lower() == "jsonpath")


def path(b: Binder, node: exp.Cast) -> Expression:
    """Binds a cast to jsonpath, which is a text here: a column has the text of its path."""
    value = b.as_type(node.this, TEXT, "a JSON path")
    takes = (exp.Anonymous, exp.JSONBPathExists, exp.MatchAgainst)
    if isinstance(node.parent, takes):
        return value
    if not isinstance(value, Literal) or not isinstance(value.value, str):
        raise b.session.source.unsupported("the text of a JSON path that is not constant", node)
    _check(b, node, value)
    return Literal(written(parse_cached(value.value)), TEXT)


FUNCTIONS: Signatures = {}
SETS: Signatures = {}
for _zoned, _end in ((False, ""), (True, "_tz")):
    FUNCTIONS |= {
        f"jsonb_path_exists{_end}": _function("json_path_exists", BOOL, True, _zoned),
        f"jsonb_path_match{_end}": _function("json_path_match", BOOL, True, _zoned),
        f"jsonb_path_query_array{_end}": _function("json_path_array", JSON, zoned=_zoned),
        f"jsonb_path_query_first{_end}": _function("json_path_first", JSON, True, _zoned),
    }
    SETS[f"jsonb_path_query{_end}"] = _function("json_path_items", _DOCUMENTS, zoned=_zoned)
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    exp.JSONBPathExists: Handler(exists, ("this", "expression")),
    exp.MatchAgainst: Handler(matches, ("this", "expressions")),
}
