"""Binds one SELECT, clause by clause in the order of their meaning.

FROM, WHERE, GROUP BY with its aggregates, HAVING, windows, the select list, DISTINCT, and ORDER BY
with LIMIT. A view is a bag of rows: an ORDER BY without LIMIT or OFFSET is checked, and has an
effect only on a query without an order of its own that has this one alone in FROM.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace

from sqlglot import exp

from ivm.dataflow.expressions import Expression
from views.errors import GroupingError, QueryTooLarge, UnknownColumn, UnsupportedSql
from views.plan.nodes import Attribute, Distinct, Filter, Map, Plan, SortKey, TemporalFilter, TopK
from views.plan.scalars import TRUE, columns_of, conjunction
from views.sql.aggregates.occurrence import ordering_of
from views.sql.aggregates.window_plans import computed
from views.sql.aggregates.windows import check_named
from views.sql.base.binder import Binder
from views.sql.base.computations import (
    Aggregates,
    Ordering,
    Pending,
    SetCall,
    WindowUse,
    attach,
)
from views.sql.base.scope import BoundQuery, Environment, Scope, Session
from views.sql.clauses.expansion import attach_ready, expand, read_by
from views.sql.clauses.grouping import Grouping
from views.sql.clauses.grouping_sets import Outputs, Set, grouping_sets
from views.sql.clauses.handlers import HANDLERS
from views.sql.clauses.joins import bind_from
from views.sql.clauses.limits import Limit, bind_limit
from views.sql.clauses.output_names import output_name
from views.sql.clauses.qualify import bind_qualify
from views.sql.clauses.quantifiers import decided
from views.sql.clauses.sessions import by_session
from views.sql.clauses.temporal_filter import bounds, conjuncts, reads_clock
from views.sql.functions.rows import Row, row_or_value

MAX_COLUMNS = 1664  # of a select list, as in PostgreSQL
# Window functions of a row's position alone, whose rows have no peers.
_BY_POSITION = frozenset({"row_number", "ntile", "lag", "lead"})
_CLAUSES = (
    "with_", "expressions", "distinct", "from_", "joins", "where", "group", "having",
    "windows", "qualify", "order", "limit", "offset",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Item:
    """A column of the select list."""

    name: str
    value: Expression
    node: exp.Expr


@dataclass(slots=True)
class Select:
    """A SELECT while it is bound: its rows so far, and the names of its clauses."""

    session: Session
    env: Environment
    node: exp.Select
    plan: Plan
    scope: Scope
    aggregates: Aggregates = field(default_factory=Aggregates)
    set_calls: list[SetCall] = field(default_factory=list)
    windows: list[WindowUse] = field(default_factory=list)
    items: list[Item] = field(default_factory=list)
    order: list[tuple[Ordering, exp.Expr]] = field(default_factory=list)
    on: list[Expression] = field(default_factory=list)
    sets: tuple[Set, ...] = ((),)
    repeated: list[tuple[Attribute, Expression]] = field(default_factory=list)
    shared: dict[tuple[exp.Expr, tuple[Expression, ...]], Expression] = field(default_factory=dict)
    expanded: tuple[SortKey, ...] = ()
    qualify: Expression | None = None
    taken: bool = False

    def binder(self, clause: str) -> Binder:
        """Makes a binder for a clause without aggregates."""
        return Binder(self.session, self.env, self.scope, clause, handlers=HANDLERS)

    def grouped_binder(self, clause: str) -> Binder:
        """Makes a binder for a clause over groups."""
        binder = self.binder(clause)
        binder.aggregates = self.aggregates
        binder.windows_named = {w.name: w for w in self.node.args.get("windows") or ()}
        return binder

    def output_binder(self, clause: str) -> Binder:
        """Makes a binder for a clause over groups and windows, which may have sets of rows."""
        binder = self.grouped_binder(clause)
        binder.set_calls, binder.shared = self.set_calls, self.shared
        binder.windows = self.windows
        return binder

    def where(self) -> None:
        """Keeps the rows that WHERE asks for."""
        clause = self.node.args.get("where")
        if clause is not None:
            binder = self.binder("WHERE")
            parts = list(conjuncts(clause.this)) if reads_clock(clause.this) else [clause.this]
            begin, end = bounds(binder, [part for part in parts if reads_clock(part)])
            condition = conjunction(decided(binder, p) for p in parts if not reads_clock(p))
            self.plan = Filter(attach(self.plan, binder.pending), condition)
            if begin is not None or end is not None:
                self.plan = TemporalFilter(self.plan, begin, end)

    def bind_items(self) -> Binder:
        """Binds the select list."""
        binder = self.output_binder("the select list")
        for node in self.node.expressions:
            if isinstance(node, exp.Dot) and isinstance(node.expression, exp.Star):
                self.items.extend(self._fields(binder, node))
                continue
            table = node.table if isinstance(node, exp.Column) else None
            if isinstance(node, exp.Star) or (
                table is not None and isinstance(node.this, exp.Star)
            ):
                self.items.extend(self._star(node, table))
                continue
            inner = node.this if isinstance(node, exp.Alias) else node
            self.items.append(Item(output_name(node), binder.value(inner), inner))
        return binder

    def _star(self, node: exp.Expr, table: str | None) -> list[Item]:
        self.session.source.only(node.this if table else node, ())
        columns = self.scope.star(table or None)
        if not columns:
            what = f"relation {table!r}" if table else "relation for *"
            raise self.session.source.fault(UnknownColumn, f"no {what} in FROM", node)
        return [Item(name, attribute.column, node) for name, attribute in columns]

    def _fields(self, binder: Binder, node: exp.Dot) -> list[Item]:
        """`(row).*`."""
        row = row_or_value(binder, node.this)
        if not isinstance(row, Row):
            raise binder.mismatch("(…).* takes a row", node)
        return [Item(n, v, node) for n, v in zip(row.names, row.values, strict=True)]

    def bind_group(self) -> Binder:
        """Binds GROUP BY; an output that it tells apart from an equal one gets its own column."""
        binder, clause = self.binder("GROUP BY"), self.node.args.get("group")
        binder.set_calls, binder.shared = self.set_calls, self.shared
        if clause is None:
            return binder
        made = _made(self)
        outputs = Outputs([item.value for item in self.items])

        def bind(node: exp.Expr) -> Expression:
            by_name = isinstance(node, exp.Column) and not self.scope.lookup(node.name, None)
            item = self.output(node, by_name)
            value = binder.value(node) if item is None else item.value
            if columns_of(value) & made:
                raise binder.fault(GroupingError, "an aggregate cannot stand in GROUP BY", node)
            return outputs.key_of(value) if item is None else outputs.key(self.items.index(item))

        sets = grouping_sets(self.session, clause, bind)
        self.sets, repeated = outputs.told_apart(sets, self.session.numbers)
        for position, attribute in repeated.items():
            item = self.items[position]
            self.repeated.append((attribute, item.value))
            self.items[position] = replace(item, value=attribute.column)
        return binder

    def bind_order(self, binder: Binder) -> None:
        """Binds ORDER BY: an output's name or number, else an expression over the rows."""
        clause = self.node.args.get("order")
        for node in clause.expressions if clause is not None else ():
            item = self.output(node.this, by_name=True)
            value = binder.value(node.this) if item is None else item.value
            self.order.append((ordering_of(binder, node, value), node))

    def take_order(self) -> None:
        """Take the order of the rows of FROM where there is no other."""
        order = tuple(Ordering(k.column, k.descending, k.nulls_first) for k in self.scope.order)
        self.windows = [
            replace(w, order=order) if not w.order and w.function in _BY_POSITION else w
            for w in self.windows
        ]
        if not self.order and self.node.args.get("distinct") is None:
            self.order = [(each, self.node) for each in order]

    def bind_qualify(self) -> list[Pending]:
        """Binds QUALIFY, and gives its subqueries."""
        clause = self.node.args.get("qualify")
        binder = self.output_binder("QUALIFY")
        if clause is not None:
            binder.set_calls, binder.shared = None, {}
            outputs = {item.name: item.value for item in reversed(self.items)}
            self.qualify = bind_qualify(binder, clause, outputs)
        return binder.pending

    def bind_on(self, binder: Binder) -> None:
        """Binds DISTINCT ON, with which ORDER BY must begin."""
        distinct = self.node.args.get("distinct")
        on = None if distinct is None else distinct.args.get("on")
        if on is None:
            return
        for node in on.expressions if isinstance(on, exp.Tuple) else [on]:
            item = self.output(node, by_name=True)
            self.on.append(binder.value(node) if item is None else item.value)
        leading = {ordering.value for ordering, _ in self.order[: len(set(self.on))]}
        if leading and not leading <= set(self.on):
            raise self.session.source.unsupported(
                "DISTINCT ON that is not what ORDER BY begins with", on
            )

    def output(self, node: exp.Expr, by_name: bool) -> Item | None:
        """Finds the output column that `node` names or numbers in ORDER BY or GROUP BY, if any."""
        if isinstance(node, exp.Literal) and not node.is_string:
            number = int(node.this) if node.this.isdigit() else 0
            if not 1 <= number <= len(self.items):
                raise self.session.source.fault(
                    UnknownColumn, f"{node.this} is not the number of an output column", node
                )
            return self.items[number - 1]
        if isinstance(node, exp.Literal):
            raise self.session.source.fault(
                UnknownColumn, "a constant here is the number of an output column, not a text", node
            )
        if by_name and isinstance(node, exp.Column) and not node.table:
            return next((i for i in self.items if i.name == node.name), None)
        return None


def bind_select(session: Session, env: Environment, node: exp.Select) -> BoundQuery:
    """Binds one SELECT to its plan."""
    session.source.only(node, _CLAUSES)
    _check_lengths(session, node)
    plan, scope = bind_from(session, env, node)
    select = Select(session, env, node, plan, scope)
    select.where()
    check_named(select.grouped_binder("WINDOW"), node.args.get("windows") or ())
    items = select.bind_items()
    having = select.grouped_binder("HAVING")
    clause = node.args.get("having")
    condition = None if clause is None else decided(having, clause.this)
    group = select.bind_group()
    order = select.output_binder("ORDER BY")
    select.bind_order(order)
    select.bind_on(order)
    pending = [*items.pending, *order.pending, *select.bind_qualify()]
    aggregated = select.aggregates.calls or select.aggregates.groupings
    if node.args.get("group") is not None or clause is not None or aggregated:
        pending = _group(select, group, condition, having.pending, pending)
    else:
        select.take_order()
    made = {use.attribute.number for use in select.windows}
    sets = {call.element.number for call in select.set_calls}
    plan, later = attach_ready(select.plan, pending, made | sets)
    plan, windows = by_session(session, plan, select.windows)
    plan = computed(session, plan, windows)
    if select.qualify is not None:
        plan, later = attach_ready(plan, later, sets)
        plan = Filter(plan, select.qualify)
    if sets and select.on and select.order and sets.isdisjoint(_ordered_by(select)):
        plan = _distinct_on(select, plan)
    select.plan, select.expanded = expand(session, plan, select.set_calls, later)
    return _output(select)


def _check_lengths(session: Session, node: exp.Select) -> None:
    """Checks that no list is longer than PostgreSQL has them."""
    clauses = (node, node.args.get("group"), node.args.get("order"))
    for clause in clauses:
        listed = clause.expressions if clause is not None else []
        if len(listed) > MAX_COLUMNS:
            raise session.source.fault(
                QueryTooLarge, f"a list has at most {MAX_COLUMNS:,} columns", listed[MAX_COLUMNS]
            )


def _group(
    select: Select,
    group: Binder,
    condition: Expression | None,
    having: list[Pending],
    pending: list[Pending],
) -> list[Pending]:
    """Group the rows and map everything bound so far onto the groups."""
    grouped_by = [*(e for each in select.sets for e in each), *(e for _, e in select.repeated)]
    keys, expanded = read_by(columns_of(*grouped_by), pending, select.set_calls)
    _refuse_aggregates(select, [*(p.reads for p in keys), *(columns_of(c.array) for c in expanded)])
    pending = [p for p in pending if p not in keys]
    below = [*keys, *group.pending]
    select.plan, _ = expand(select.session, select.plan, expanded, below)
    select.set_calls = [call for call in select.set_calls if call not in expanded]
    if select.repeated:
        own = ((a, a.column) for a in select.plan.attributes)
        select.plan = Map(select.plan, (*own, *select.repeated))
    grouping = Grouping(select.session, select.plan, select.sets, select.aggregates)
    select.items = [replace(i, value=grouping.regroup(i.value, i.node)) for i in select.items]
    select.order = [(replace(o, value=grouping.regroup(o.value, n)), n) for o, n in select.order]
    select.on = [grouping.regroup(value, select.node) for value in select.on]
    select.windows = [w.mapped(lambda e: grouping.regroup(e, select.node)) for w in select.windows]
    select.set_calls = [
        replace(c, array=grouping.regroup(c.array, c.node)) for c in select.set_calls
    ]
    pending = [grouping.regroup_pending(p, select.node) for p in pending]
    having = [grouping.regroup_pending(p, select.node) for p in having]
    if condition is not None:
        condition = grouping.regroup(condition, select.node.args["having"])
    if select.qualify is not None:
        select.qualify = grouping.regroup(select.qualify, select.node.args["qualify"])
    select.plan = attach(grouping.aggregate(select.plan), having)
    if condition is not None:
        select.plan = Filter(select.plan, condition)
    return pending


def _refuse_aggregates(select: Select, keys: Sequence[Collection[int]]) -> None:
    """Checks that no subquery or set to group by reads an aggregate."""
    if not _made(select).isdisjoint(number for key in keys for number in key):
        raise select.session.source.fault(
            GroupingError, "an aggregate cannot stand in GROUP BY", select.node.args["group"]
        )


def _made(select: Select) -> set[int]:
    """The columns of the aggregates and window functions met so far."""
    made = {a.number for a in select.aggregates.calls.values()}
    made |= {a.number for a, _ in select.aggregates.groupings.values()}
    return made | {w.attribute.number for w in select.windows}


def _output(select: Select) -> BoundQuery:
    """The select list, DISTINCT, and the rows that LIMIT leaves."""
    session, distinct = select.session, None if select.taken else select.node.args.get("distinct")
    limit = bind_limit(session, select.env, select.node)
    outputs = [(session.numbers.fresh(i.name, i.value), i.value) for i in select.items]
    columns = tuple((i.name, a) for i, (a, _) in zip(select.items, outputs, strict=True))
    of_value = {value: attribute for attribute, value in reversed(outputs)}
    hidden: list[tuple[Attribute, Expression]] = []
    is_ordered = select.on or limit.bounds or select.env.ordered
    sorted_by = [o.value for o, _ in select.order] if is_ordered else []
    expanded = select.expanded if is_ordered and _keeps_positions(select, limit) else ()
    for value in [*sorted_by, *(k.column for k in expanded), *select.on]:
        if value not in of_value:
            of_value[value] = session.numbers.fresh("sort", value)
            hidden.append((of_value[value], value))
    if distinct is not None and not select.on:
        _check_ordered_by_outputs(select, outputs)
    if not outputs:
        hidden = hidden or [(session.numbers.fresh("", TRUE), TRUE)]
    plan: Plan = Map(select.plan, tuple(outputs + hidden))
    order = tuple(o.key(of_value[o.value]) for o, _ in select.order) if sorted_by else ()
    order += tuple(replace(k, column=of_value[k.column].column) for k in expanded)
    if select.on:
        plan = TopK(plan, tuple(of_value[value].column for value in select.on), order, 1)
    elif distinct is not None:
        plan = Distinct(plan)
    plan = limit.of(session, plan, order)
    if hidden and outputs and not select.env.ordered:
        plan = Map(plan, tuple((a, a.column) for a, _ in outputs))
    return BoundQuery(plan, columns, order if select.env.ordered else ())


def _keeps_positions(select: Select, limit: Limit) -> bool:
    """Tells whether rows that tie come in the order in which sets made them."""
    is_distinct = select.node.args.get("distinct") is not None and not select.on
    return not limit.ties and (select.taken or not is_distinct)


def _ordered_by(select: Select) -> frozenset[int]:
    """The columns that ORDER BY and DISTINCT ON read."""
    return columns_of(*select.on, *(ordering.value for ordering, _ in select.order))


def _distinct_on(select: Select, plan: Plan) -> Plan:
    """Takes the first row of each value of DISTINCT ON before sets are expanded, as PostgreSQL does
    where ORDER BY reads none of them."""
    values = dict.fromkeys([*select.on, *(ordering.value for ordering, _ in select.order)])
    made = {value: select.session.numbers.fresh("sort", value) for value in values}
    kept = tuple((a, a.column) for a in plan.attributes)
    rows = Map(plan, (*kept, *((a, value) for value, a in made.items())))
    keys = tuple(made[value].column for value in select.on)
    order = tuple(ordering.key(made[ordering.value]) for ordering, _ in select.order)
    select.on, select.taken = [], True
    return TopK(rows, keys, order, 1)


def _check_ordered_by_outputs(
    select: Select, outputs: Sequence[tuple[Attribute, Expression]]
) -> None:
    values = {value for _, value in outputs}
    for ordering, node in select.order:
        if ordering.value not in values:
            raise select.session.source.fault(
                UnsupportedSql,
                "with SELECT DISTINCT, ORDER BY takes columns of the select list only",
                node,
            )
