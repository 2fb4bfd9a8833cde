"""Binds LIMIT, OFFSET and FETCH FIRST [WITH TIES]."""

from dataclasses import dataclass, replace

from sqlglot import exp

from ivm.constants import evaluated
from ivm.dataflow.expressions import Call, Expression, Literal
from views.errors import InvalidLiteral
from views.plan.nodes import Filter, Map, Plan, SortKey, TopK, Window, WindowCall
from views.plan.scalars import call, columns_of, conjunction, disjunction, predicate, test
from views.sql.base.binder import Binder, name
from views.sql.base.coercion import BIGINT, cast, is_number
from views.sql.base.computations import Pending, attach
from views.sql.base.scope import Environment, Scope, Session
from views.sql.clauses.handlers import HANDLERS

# The sum of a limit and an offset fits the engine's 64 bits.
_MOST = 10**18  # rows


@dataclass(frozen=True, slots=True)
class Limit:
    """Keeps so many rows (None: all) after `offset`; `ties`: with all that equal the last.

    A number that is an expression varies, with an enclosing row or with subqueries.
    """

    count: int | Expression | None
    offset: int | Expression = 0
    ties: bool = False
    pending: tuple[Pending, ...] = ()

    @property
    def bounds(self) -> bool:
        """Tells whether it leaves any row out."""
        return self.count is not None or self.offset != 0

    def of(self, session: Session, plan: Plan, order: tuple[SortKey, ...]) -> Plan:
        """Applies the limit to `plan` in this order."""
        if not self.bounds:
            return plan
        if isinstance(self.offset, int) and (self.count is None or isinstance(self.count, int)):
            return TopK(plan, (), order, self.count, self.offset, self.ties and bool(self.count))
        return self._numbered(session, plan, order)

    def _numbered(self, session: Session, plan: Plan, order: tuple[SortKey, ...]) -> Plan:
        """Keeps rows by their numbers in this order; a number of rows that is NULL is none."""
        number = session.numbers.new("row_number", BIGINT, False)
        rows = Window(plan, (), order, (WindowCall(number, "row_number"),))
        zero = Literal(0, BIGINT)
        offset = _expression(self.offset)
        if offset.nullable:
            offset = Call("coalesce", (offset, zero), BIGINT, False)
        conditions: list[Expression] = [predicate("gt", number.column, offset)]
        if self.count is not None:
            count = _expression(self.count)
            within = predicate("le", number.column, call("add", offset, count, result=BIGINT))
            conditions.append(
                disjunction([test("is_null", count), within]) if count.nullable else within
            )
        kept = Filter(attach(rows, self.pending), conjunction(conditions))
        return Map(kept, tuple((a, a.column) for a in plan.attributes))


def _expression(number: int | Expression) -> Expression:
    return Literal(number, BIGINT) if isinstance(number, int) else number


def bind_limit(session: Session, env: Environment, node: exp.Expr) -> Limit:
    """Binds the limit at the end of a query; it may read the row of an enclosing query."""
    binder = Binder(session, env, Scope(env.outer), "LIMIT", handlers=HANDLERS)
    clause, after = node.args.get("limit"), node.args.get("offset")
    offset: int | Expression = 0
    if after is not None:
        session.source.only(after, ("expression",))
        offset = _count(binder, after.expression) or 0
    if clause is None:
        limit = Limit(None, offset)
    elif isinstance(clause, exp.Fetch):
        limit = _fetched(binder, clause, offset, ordered=node.args.get("order") is not None)
    else:
        session.source.only(clause, ("expression",))
        limit = Limit(_count(binder, clause.expression), offset)
    return replace(limit, pending=tuple(binder.pending))


def _fetched(b: Binder, clause: exp.Fetch, offset: int | Expression, ordered: bool) -> Limit:
    source = b.session.source
    source.only(clause, ("direction", "count", "limit_options"))
    options, count = clause.args.get("limit_options"), clause.args.get("count")
    if options is not None and options.args.get("percent"):
        raise source.unsupported("FETCH with PERCENT", clause)
    ties = options is not None and bool(options.args.get("with_ties"))
    if ties and not ordered:
        raise source.fault(InvalidLiteral, "WITH TIES needs an ORDER BY", clause)
    limit = Limit(1 if count is None else _count(b, count), offset, ties)
    if ties and not isinstance(limit.count, int | None):
        raise source.unsupported("WITH TIES of a number that varies (use rank())", clause)
    return limit


def _count(b: Binder, node: exp.Expr) -> int | Expression | None:
    """A number of rows; None for ALL or NULL."""
    if isinstance(node, exp.Var) and node.name.upper() == "ALL":
        return None
    value = b.typed(b.bind(node), BIGINT, node)
    if not is_number(value.type):
        raise b.mismatch(f"LIMIT and OFFSET take a number of rows, not {name(value)}", node)
    value = cast(value, BIGINT)
    if columns_of(value):
        return value
    count = evaluated(value)
    if count is not None and count.value is None:
        return None
    if count is not None and isinstance(count.value, int) and 0 <= count.value < _MOST:
        return count.value
    raise b.fault(InvalidLiteral, f"LIMIT and OFFSET take a number from 0 to {_MOST - 1}", node)
