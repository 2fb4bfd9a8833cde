"""Binds LIMIT, OFFSET and FETCH FIRST [WITH TIES]."""

from dataclasses import dataclass

from sqlglot import exp

from ivm.constants import evaluated
from views.errors import InvalidLiteral, UnsupportedSql
from views.plan.nodes import Plan, SortKey, TopK
from views.sql.base.binder import Binder
from views.sql.base.coercion import BIGINT, cast, is_number
from views.sql.base.scope import Environment, Scope, Session
from views.sql.clauses.handlers import HANDLERS

# The sum of a limit and an offset fits the engine's 64 bits.
_MOST = 10**18  # rows


@dataclass(frozen=True, slots=True)
class Limit:
    """Keeps so many rows (None: all) after `offset`; `ties`: with all that equal the last."""

    count: int | None
    offset: int
    ties: bool = False

    @property
    def bounds(self) -> bool:
        """Tells whether it leaves any row out."""
        return self.count is not None or self.offset > 0

    def of(self, plan: Plan, order: tuple[SortKey, ...]) -> Plan:
        """Applies the limit to `plan` in this order."""
        if not self.bounds:
            return plan
        return TopK(plan, (), order, self.count, self.offset, self.ties and bool(self.count))


def bind_limit(session: Session, node: exp.Expr) -> Limit:
    """Binds the limit at the end of a query."""
    clause, after = node.args.get("limit"), node.args.get("offset")
    offset = 0
    if after is not None:
        session.source.only(after, ("expression",))
        offset = _count(session, after.expression) or 0
    if clause is None:
        return Limit(None, offset)
    if isinstance(clause, exp.Fetch):
        return _fetched(session, clause, offset, ordered=node.args.get("order") is not None)
    session.source.only(clause, ("expression",))
    return Limit(_count(session, clause.expression), offset)


def _fetched(session: Session, clause: exp.Fetch, offset: int, ordered: bool) -> Limit:
    session.source.only(clause, ("direction", "count", "limit_options"))
    options, count = clause.args.get("limit_options"), clause.args.get("count")
    if options is not None and options.args.get("percent"):
        raise session.source.unsupported("FETCH with PERCENT", clause)
    ties = options is not None and bool(options.args.get("with_ties"))
    if ties and not ordered:
        raise session.source.fault(InvalidLiteral, "WITH TIES needs an ORDER BY", clause)
    return Limit(1 if count is None else _count(session, count), offset, ties)


def _count(session: Session, node: exp.Expr) -> int | None:
    """A constant number of rows; None for ALL or NULL."""
    if isinstance(node, exp.Var) and node.name.upper() == "ALL":
        return None
    binder = Binder(session, Environment(), Scope(), "LIMIT", handlers=HANDLERS)
    value = binder.typed(binder.bind(node), BIGINT, node)
    if is_number(value.type) and not binder.pending:
        count = evaluated(cast(value, BIGINT))
        if count is not None and count.value is None:
            return None
        if count is not None and isinstance(count.value, int) and 0 <= count.value < _MOST:
            return count.value
    raise session.source.fault(
        UnsupportedSql if binder.pending else InvalidLiteral,
        f"LIMIT and OFFSET take a constant number from 0 to {_MOST - 1}; the rows of a number that "
        "changes are those that row_number() numbers up to it",
        node,
    )
