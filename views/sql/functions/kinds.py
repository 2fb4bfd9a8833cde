"""Binds functions of values of any type: their type, their NULLs, casts written as calls."""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression, Literal
from views.errors import UnknownFunction
from views.plan.scalars import call, test
from views.sql.base.binder import Binder, Handler
from views.sql.base.coercion import BOOL, INT, TEXT, Bound, Untyped, castable
from views.sql.base.signatures import Signature, Signatures
from views.types import parse_type, type_name

_CASTS = (
    "bool", "bytea", "date", "float4", "float8", "int2", "int4", "int8", "jsonb", "text",
    "timestamptz", "uuid",
)  # fmt: skip
_LONG_NAMES = {
    "time": "time without time zone",
    "timestamp": "timestamp without time zone",
    "timestamptz": "timestamp with time zone",
}
_ONE, _ZERO = Literal(1, INT), Literal(0, INT)


def _only_argument(b: Binder, node: exp.Expr) -> exp.Expr:
    given = node.expressions if isinstance(node, exp.Anonymous) else [node.this]
    if len(given) != 1 or given[0] is None:
        raise b.fault(UnknownFunction, "this function takes one argument", node)
    found: exp.Expr = given[0]
    return found


def type_of(b: Binder, node: exp.Anonymous) -> Bound:
    """Binds `pg_typeof(value)`, which no value of a row changes."""
    bound = b.bind(_only_argument(b, node))
    return Literal("unknown" if isinstance(bound, Untyped) else _full_name(bound.type), TEXT)


def _full_name(kind: pa.DataType) -> str:
    """Names a type as PostgreSQL does: without precision, and an array without dimensions."""
    if isinstance(kind, pa.ListType):
        return _full_name(kind.value_type).removesuffix("[]") + "[]"
    name = type_name(kind).partition("(")[0]
    return _LONG_NAMES.get(name, name)


def cast_call(b: Binder, node: exp.Expr) -> Bound:
    """Binds a cast that is written as a call of the type: `float8(value)`."""
    argument = _only_argument(b, node)
    spelled = node.name.lower() if isinstance(node, exp.Anonymous) else "date"
    target, bound = parse_type(spelled), b.bind(argument)
    if not isinstance(bound, Untyped) and not castable(bound.type, target):
        raise b.mismatch(f"cannot cast {type_name(bound.type)} to {spelled}", argument)
    return b.explicit_cast(bound, target, argument)


def _counting(condition: str) -> Signature:
    """Binds `num_nulls(…)` and `num_nonnulls(…)`."""

    def build(b: Binder, node: exp.Expr, arguments: list[Expression]) -> Expression:
        if not arguments:
            raise b.fault(UnknownFunction, "num_nulls() and num_nonnulls() take arguments", node)
        return _sum(
            [Call("case", (test(condition, a), _ONE, _ZERO), INT, False) for a in arguments]
        )

    return Signature(("any",), build=build, variadic=True)


def _sum(counts: Sequence[Expression]) -> Expression:
    whole = counts[0]
    for count in counts[1:]:
        whole = call("add", whole, count, result=INT)
    return whole


FUNCTIONS: Signatures = {
    "booleq": (Signature((BOOL, BOOL), BOOL, "eq"),),
    "boolne": (Signature((BOOL, BOOL), BOOL, "ne"),),
    "num_nonnulls": (_counting("is_not_null"),),
    "num_nulls": (_counting("is_null"),),
}
HANDLERS: dict[type[exp.Expr] | str, Handler] = {
    **dict.fromkeys(_CASTS, Handler(cast_call, ("this", "expressions"))),
    "pg_typeof": Handler(type_of, ("this", "expressions")),
    exp.Date: Handler(cast_call, ("this",)),
}
