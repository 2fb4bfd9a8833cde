"""Binds the relations of FROM: tables, views, WITH queries, subqueries and lists of them."""

from dataclasses import dataclass, replace

from sqlglot import exp

from views.catalog import Table
from views.errors import DuplicateColumn, UnknownColumn, UnknownTable, suggestion
from views.plan.nodes import Apply, Attribute, Get, Join, JoinKind, Plan, SortKey
from views.plan.scalars import TRUE
from views.plan.trees import free_columns, numbers_of
from views.sql.base.binder import Binder
from views.sql.base.schemas import expect_public
from views.sql.base.scope import Environment, Relation, Scope, Session, one_row
from views.sql.clauses import time_windows
from views.sql.clauses.handlers import HANDLERS
from views.sql.functions import records, set_returning
from views.sql.functions.set_returning import Called
from views.sql.source.text import function_name
from views.sql.source.time_windows import TimeWindow


@dataclass(frozen=True, slots=True)
class Item:
    """Relations that belong together: their rows, and the names of their columns.

    A `lateral` one may read the columns of items before it.
    """

    plan: Plan
    scope: Scope
    lateral: bool = False


def bind_relation(session: Session, env: Environment, before: Scope | None, node: exp.Expr) -> Item:
    """Binds a table or a subquery; if it is LATERAL, it may read the columns of `before`."""
    match node:
        case exp.Table() if isinstance(node.this, exp.Values):
            return _subquery(session, env, node.this, node)
        case exp.Table() if node.args.get("rows_from"):
            return _functions(session, env, before, node.args["rows_from"], node)
        case exp.Table() if (called := time_windows.called(node.this)) is not None:
            return _time_window(session, env, called, node)
        case exp.Table() if isinstance(node.this, exp.Func):
            return _functions(session, env, before, [node.this], node)
        case exp.Unnest():
            return _functions(session, env, before, [node], node)
        case exp.Table():
            return _table(session, env, node)
        case exp.Lateral() if isinstance(node.this, exp.Func):
            return _functions(session, env, before, [node.this], node)
        case exp.Lateral():
            session.source.only(node, ("this", "alias", "joins"))
            inner = Environment(env.named, before)
            found = _subquery(session, inner, node.this, node)
            return Item(found.plan, found.scope, lateral=True)
        case exp.Subquery() | exp.Values():
            return _subquery(session, env, node, node)
        case _:
            raise session.source.unsupported(f"{node.key.upper()} in FROM", node)


def is_join_in_parentheses(node: exp.Expr) -> bool:
    """Tells whether parentheses hold joined relations, rather than a query."""
    if not isinstance(node, exp.Subquery):
        return False
    inner = node.this
    if not isinstance(inner, exp.Subquery):
        return isinstance(inner, exp.Table)
    return bool(inner.alias or inner.args.get("joins")) or is_join_in_parentheses(inner)


def _subquery(session: Session, env: Environment, query: exp.Expr, node: exp.Expr) -> Item:
    alias = node.args.get("alias")
    bound = session.bind_query(session, replace(env, ordered=True), _bare(query))
    scope = aliased(session, env, alias, bound.columns, "", node)
    return Item(bound.plan, replace(scope, order=bound.order))


def _bare(query: exp.Expr) -> exp.Expr:
    """`query` without its name and the relations that are joined with it, over the same parts."""
    bare = type(query)(**{n: v for n, v in query.args.items() if n not in ("alias", "joins")})
    bare.meta.update(query.meta)
    return bare


def _functions(
    session: Session, env: Environment, before: Scope | None, given: list[exp.Expr], node: exp.Expr
) -> Item:
    """Functions that return sets, in lockstep; they may read the items before, LATERAL or not."""
    read = ("this", "expressions", "rows_from", "alias", "joins", "ordinality", "offset")
    session.source.only(node, read)
    record = given[0]
    if len(given) == 1 and isinstance(record, exp.Anonymous) and records.is_record(record):
        return _record(session, env, before, record, node)
    binder = Binder(session, env, Scope(before), "FROM", handlers=HANDLERS)
    called = [call for each in given for call in _calls(session, each)]
    found = set_returning.rows_of(session, binder, called, one_row(session))
    first, columns = called[0], found.columns
    alias = node.args.get("alias") or first.node.args.get("alias")
    offset = node.args.get("offset") or first.node.args.get("offset")
    if offset or node.args.get("ordinality"):
        name = offset.name if isinstance(offset, exp.Identifier) else "ordinality"
        columns = (*columns, (name, found.position))
    is_one = len(found.columns) == 1
    if alias is not None and is_one and columns[0][0] != "value":
        columns = ((alias.name or first.function, columns[0][1]), *columns[1:])
    scope = aliased(session, env, alias, columns, first.function, node)
    (relation,) = scope.relations
    whole = columns[0][1] if is_one else None
    named = replace(relation, whole=whole, present=found.position)
    order = (SortKey(found.position.column, False, False),)
    return Item(found.plan, replace(scope, relations=[named], order=order), lateral=True)


def _calls(session: Session, node: exp.Expr) -> list[Called]:
    """The calls of one function in FROM, or of one part of ROWS FROM."""
    if isinstance(node, exp.Table):
        session.source.only(node, ("this",))
        node = node.this
    calls = set_returning.calls_of(node)
    if calls or not isinstance(node, exp.Func):
        return calls
    return [Called(function_name(node), (), node)]


def _record(
    session: Session, env: Environment, before: Scope | None, called: exp.Anonymous, node: exp.Expr
) -> Item:
    """A function whose columns are listed with its alias."""
    alias = node.args.get("alias")
    binder = Binder(session, env, Scope(before), "FROM", handlers=HANDLERS)
    found = records.rows_of(session, binder, called, one_row(session), alias)
    if binder.pending:
        raise session.source.unsupported("a subquery in a function in FROM", called)
    name = called.name.lower()
    return Item(found.plan, aliased(session, env, alias, found.columns, name, called), lateral=True)


def _time_window(session: Session, env: Environment, called: TimeWindow, node: exp.Expr) -> Item:
    """A table's rows with their windows of time; its name stands for the whole."""
    session.source.only(node, ("this", "alias", "joins"))
    given = bind_relation(session, env, None, called.this)
    binder = Binder(session, env, given.scope, called.args["kind"], handlers=HANDLERS)
    plan, start, end = time_windows.windowed(binder, given.plan, called)
    if binder.pending:
        raise session.source.unsupported("a subquery among the arguments of a time window", called)
    columns = (*given.scope.visible, ("window_start", start), ("window_end", end))
    name = given.scope.relations[0].alias
    return Item(plan, aliased(session, env, node.args.get("alias"), columns, name, node))


def _table(session: Session, env: Environment, node: exp.Table) -> Item:
    session.source.only(node, ("this", "alias", "joins", "db", "catalog", "only"))
    if not isinstance(node.this, exp.Identifier):
        raise session.source.unsupported("a function in FROM", node)
    name, alias = node.name, node.args.get("alias")
    is_qualified = expect_public(session.source, node)
    if name in env.named and not is_qualified:
        plan, columns = env.named[name].make()
        return Item(plan, aliased(session, env, alias, columns, name, node))
    entry = session.catalog.get(name)
    if entry is None:
        known = [*session.catalog, *([] if is_qualified else env.named)]
        raise session.source.fault(
            UnknownTable, f"no table or view {name!r}{suggestion(name, known)}", node
        )
    attributes = tuple(session.numbers.new(f.name, f.type, f.nullable) for f in entry.schema)
    columns = tuple((a.name, a) for a in attributes[: entry.seen])
    key = tuple(a.number for a in attributes if a.name in entry.unique)
    session.dependencies.add(name)
    if key and isinstance(entry, Table):
        session.keyed.update({a.number: (a, frozenset(key)) for a in attributes})
    return Item(Get(name, attributes, key), aliased(session, env, alias, columns, name, node))


def aliased(
    session: Session,
    env: Environment,
    alias: exp.TableAlias | None,
    columns: tuple[tuple[str, Attribute], ...],
    name: str,
    node: exp.Expr,
) -> Scope:
    """Names the columns under the alias, renamed if that lists names."""
    if alias is not None:
        session.source.only(alias, ("this", "columns"))
        names = [c.name for c in alias.args.get("columns") or []]
        if len(names) > len(columns):
            raise session.source.fault(
                UnknownColumn, f"{len(names)} names for {len(columns)} columns", node
            )
        renamed = zip(names, (a for _, a in columns), strict=False)
        columns = (*renamed, *columns[len(names) :])
        name = alias.name or name
    return Scope(env.outer, [Relation(name, columns)], list(columns))


def seen(scope: Scope, before: Scope | None) -> Scope:
    """Makes the scope of a LATERAL item after the relations of `scope`."""
    return Scope(before, scope.relations, scope.visible)


def together(session: Session, left: Item, right: Item, node: exp.Expr) -> Scope:
    """Merges the names of both items (raises DuplicateColumn where two relations have one)."""
    taken = {r.alias for r in left.scope.relations}
    for relation in right.scope.relations:
        if relation.alias and relation.alias in taken:
            raise session.source.fault(
                DuplicateColumn, f"{relation.alias!r} stands twice in FROM; give it an alias", node
            )
    relations = [*left.scope.relations, *right.scope.relations]
    return Scope(left.scope.outer, relations, [*left.scope.visible, *right.scope.visible])


def reads_before(left: Item, right: Item) -> bool:
    """Tells whether `right` reads columns of `left`."""
    return right.lateral and not free_columns(right.plan).keys().isdisjoint(numbers_of(left.plan))


def paired(kind: JoinKind, left: Item, right: Item) -> Join | Apply:
    """Joins the items without a condition."""
    form = Apply if reads_before(left, right) else Join
    return form(kind, left.plan, right.plan, TRUE)
