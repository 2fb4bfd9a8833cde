"""Compares rows of values column by column, as PostgreSQL does.

`=` and `<>` compare all columns. An ordering is decided by the first pair that is not equal, and is
NULL if that pair has a NULL. A row that is one value is compared as a value: NULL in it is equal to
NULL, and the greatest.
"""

from collections.abc import Sequence

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Expression
from views.plan.scalars import conjunction, disjunction, negation
from views.sql.base.binder import Binder
from views.sql.base.coercion import Bound, Untyped
from views.sql.functions.operators import SYMBOLS, compare_bound
from views.sql.functions.rows import Row

Value = tuple[exp.Expr, Bound]

_STRICTLY = {"lt": "lt", "le": "lt", "gt": "gt", "ge": "gt"}


def values(b: Binder, node: exp.Expr) -> list[Value]:
    """Lists the columns of a row, or the one value `node`."""
    while isinstance(node, exp.Paren) and isinstance(node.this, exp.Tuple):
        node = node.this
    nodes = node.expressions if isinstance(node, exp.Tuple) else [node]
    return [(n, b.bind(n)) for n in nodes]


def compare(
    b: Binder, function: str, left: Sequence[Value], right: Sequence[Value], node: exp.Expr
) -> Expression:
    """Compares `left` with `right` by `function`; both are rows, or single values."""
    if len(left) != len(right):
        left, right = _whole(b, left, right), _whole(b, right, left)
    if len(left) != len(right) or not left:
        raise b.mismatch(f"a row of {len(left)} values is compared with one of {len(right)}", node)
    pairs = list(zip(left, right, strict=True))
    match function:
        case "eq" | "is_not_distinct":
            return conjunction(_pair(b, function, p) for p in pairs)
        case "ne":
            return negation(conjunction(_pair(b, "eq", p) for p in pairs))
        case "is_distinct":
            return disjunction(_pair(b, function, p) for p in pairs)
        case _:
            return _ordering(b, function, pairs)


def _whole(b: Binder, row: Sequence[Value], other: Sequence[Value]) -> Sequence[Value]:
    """The row as one value, if it is compared with a value that is a row of as many fields."""
    bound = other[0][1] if len(other) == 1 else None
    kind = None if bound is None or isinstance(bound, Untyped) else bound.type
    if not isinstance(kind, pa.StructType) or kind.num_fields != len(row):
        return row
    values = tuple(b.typed(v, f.type, n) for (n, v), f in zip(row, kind, strict=True))
    return [(row[0][0], Row(tuple(f.name for f in kind), values).value())]


def _ordering(b: Binder, function: str, pairs: Sequence[tuple[Value, Value]]) -> Expression:
    first, *rest = pairs
    if not rest:
        return _pair(b, function, first)
    later = conjunction([_pair(b, "eq", first), _ordering(b, function, rest)])
    return disjunction([_pair(b, _STRICTLY[function], first), later])


def _pair(b: Binder, function: str, pair: tuple[Value, Value]) -> Expression:
    return compare_bound(b, function, SYMBOLS[function], *pair)
