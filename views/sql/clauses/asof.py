"""ASOF JOIN, as DuckDB has it: to each row on the left the nearest row on the right.

One condition orders the sides by <, <=, > or >=: of the right rows that satisfy all conditions the
one whose side of it is nearest is taken. So the join is a top-1 for each row on the left.
"""

from sqlglot import exp

from ivm.dataflow.expressions import Call, Column, Expression
from views.errors import UnsupportedSql
from views.plan.nodes import Apply, Filter, Map, Plan, SortKey, TopK
from views.plan.scalars import TRUE, columns_of, conjuncts
from views.plan.trees import numbers_of
from views.sql.base.scope import Session

# The comparison, with the left side's value first, under which the nearest is the greatest.
_GREATEST = {"ge": True, "gt": True, "le": False, "lt": False}
_EXCHANGED = {"ge": "le", "gt": "lt", "le": "ge", "lt": "gt"}


def asof(
    session: Session, side: str, left: Plan, right: Plan, on: Expression, node: exp.Join
) -> Plan:
    """Joins the plans under the conditions `on` (raises UnsupportedSql)."""
    if side not in ("INNER", "LEFT"):
        raise session.source.unsupported(f"ASOF {side} JOIN (exchange the sides)", node)
    found = [_ordering(c, left, right) for c in conjuncts(on)]
    orderings = [each for each in found if each is not None]
    if len(orderings) != 1:
        raise session.source.fault(
            UnsupportedSql,
            "ASOF JOIN takes one condition by <, <=, > or >= between a value of the left side and "
            "one of the right, beside equalities",
            node,
        )
    value, is_greatest = orderings[0]
    if not isinstance(value, Column):
        attribute = session.numbers.fresh("asof", value)
        kept = tuple((a, a.column) for a in right.attributes)
        right, value = Map(right, (*kept, (attribute, value))), attribute.column
    nearest = TopK(Filter(right, on), (), (SortKey(value, is_greatest, False),), 1)
    return Apply("left" if side == "LEFT" else "inner", left, nearest, TRUE)


def _ordering(condition: Expression, left: Plan, right: Plan) -> tuple[Expression, bool] | None:
    """The right side's value of an inequality, and whether the nearest one is the greatest."""
    if not (isinstance(condition, Call) and condition.function in _GREATEST):
        return None
    ours, theirs = numbers_of(left), numbers_of(right)
    one, other = condition.arguments
    function = condition.function
    if columns_of(one) <= theirs and columns_of(other) <= ours:
        one, other, function = other, one, _EXCHANGED[function]
    if not (columns_of(one) <= ours and columns_of(other) and columns_of(other) <= theirs):
        return None
    return other, _GREATEST[function]
