"""Compares rows of values column by column, as PostgreSQL does.

`=` and `<>` compare all columns. An ordering is decided by the first pair that is not equal, and is
NULL if that pair has a NULL. IS NULL and IS NOT NULL ask for all columns.
"""

from collections.abc import Sequence

from sqlglot import exp

from ivm.dataflow.expressions import Expression
from views.plan.scalars import conjunction, disjunction, negation
from views.sql.base.binder import Binder
from views.sql.base.coercion import Bound
from views.sql.functions.operators import SYMBOLS, compare_bound

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


def _ordering(b: Binder, function: str, pairs: Sequence[tuple[Value, Value]]) -> Expression:
    first, *rest = pairs
    if not rest:
        return _pair(b, function, first)
    later = conjunction([_pair(b, "eq", first), _ordering(b, function, rest)])
    return disjunction([_pair(b, _STRICTLY[function], first), later])


def _pair(b: Binder, function: str, pair: tuple[Value, Value]) -> Expression:
    return compare_bound(b, function, SYMBOLS[function], *pair)
