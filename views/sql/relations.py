"""FROM: tables, views, WITH queries, subqueries and their joins."""

from dataclasses import dataclass, replace

from sqlglot import exp

from ivm.expressions import Call, Expression
from views.catalog import Table
from views.errors import AmbiguousColumn, DuplicateColumn, UnknownColumn, UnknownTable, suggestion
from views.plan.nodes import (
    Apply,
    Attribute,
    Filter,
    Join,
    JoinKind,
    Plan,
    Project,
    Scan,
    Values,
)
from views.plan.scalars import TRUE, conjunction
from views.sql.binder import Binder, attach
from views.sql.handlers import HANDLERS
from views.sql.operators import compare_bound
from views.sql.quantifiers import decided
from views.sql.scope import Environment, Relation, Scope, Session


@dataclass(frozen=True, slots=True)
class Item:
    """One item of a FROM clause; a lateral one reads the items before it."""

    plan: Plan
    relations: tuple[Relation, ...]
    merged: dict[str, Attribute]
    lateral: bool = False


def bind_from(session: Session, env: Environment, node: exp.Select) -> tuple[Plan, Scope]:
    """The rows that a SELECT ranges over, and what its expressions may name."""
    scope = Scope(env.outer)
    clause = node.args.get("from_")
    if clause is None:
        return one_row(session), scope
    return _joined(session, env, scope, clause.this, node.args.get("joins") or []), scope


def one_row(session: Session) -> Values:
    """One row without a column that could be named."""
    return Values(((True,),), (session.numbers.fresh("", TRUE),))


def _joined(
    session: Session, env: Environment, scope: Scope, first: exp.Expr, joins: list[exp.Join]
) -> Plan:
    item = _item(session, env, scope, first)
    _add(session, scope, item, first)
    plan, comma = item.plan, False
    for join in [*(first.args.get("joins") or []), *joins]:
        comma = comma or not (
            join.kind or join.side or join.args.get("on") or join.args.get("using")
        )
        if comma and join.side in ("RIGHT", "FULL"):
            raise session.source.unsupported(f"{join.side} JOIN after a comma in FROM", join)
        plan = _join(session, env, scope, plan, join)
    return plan


def _item(session: Session, env: Environment, scope: Scope, node: exp.Expr) -> Item:
    match node:
        case exp.Table():
            return _table(session, env, node)
        case exp.Lateral():
            session.source.only(node, ("this", "alias"))
            inner = Environment(env.named, scope)
            return replace(_subquery(session, inner, node.this, node), lateral=True)
        case exp.Subquery() if isinstance(node.this, exp.Table):
            session.source.only(node, ("this", "joins"))
            nested = Scope(env.outer)
            plan = _joined(session, env, nested, node.this, [])
            return Item(plan, tuple(nested.relations), nested.merged)
        case exp.Subquery() | exp.Values():
            return _subquery(session, env, node, node)
        case _:
            raise session.source.unsupported(f"{node.key.upper()} in FROM", node)


def _subquery(session: Session, env: Environment, query: exp.Expr, node: exp.Expr) -> Item:
    alias = node.args.get("alias")
    bare = query.copy()
    bare.set("alias", None)
    bare.set("joins", None)
    bound = session.bind_query(session, env, bare)
    return Item(bound.plan, (_relation(session, alias, bound.columns, "", node),), {})


def _table(session: Session, env: Environment, node: exp.Table) -> Item:
    session.source.only(node, ("this", "alias", "joins"))
    if not isinstance(node.this, exp.Identifier):
        raise session.source.unsupported("a function in FROM", node)
    name, alias = node.name, node.args.get("alias")
    if name in env.named:
        plan, columns = env.named[name].make()
        return Item(plan, (_relation(session, alias, columns, name, node),), {})
    entry = session.catalog.get(name)
    if entry is None:
        known = [*session.catalog, *env.named]
        raise session.source.fault(
            UnknownTable, f"no table or view {name!r}{suggestion(name, known)}", node
        )
    attributes = tuple(session.numbers.new(f.name, f.type, f.nullable) for f in entry.schema)
    columns = tuple((a.name, a) for a in attributes)
    unique = entry.key if isinstance(entry, Table) else ()
    key = tuple(a.number for a in attributes if a.name in unique)
    session.dependencies.add(name)
    session.keyed.update({a.number: (a, frozenset(key)) for a in attributes if key})
    return Item(Scan(name, attributes, key), (_relation(session, alias, columns, name, node),), {})


def _relation(
    session: Session,
    alias: exp.TableAlias | None,
    columns: tuple[tuple[str, Attribute], ...],
    name: str,
    node: exp.Expr,
) -> Relation:
    """The columns under the alias, renamed if that lists names."""
    if alias is None:
        return Relation(name, columns)
    session.source.only(alias, ("this", "columns"))
    names = [c.name for c in alias.args.get("columns") or []]
    if len(names) > len(columns):
        raise session.source.fault(
            UnknownColumn, f"{len(names)} names for {len(columns)} columns", node
        )
    kept = columns[len(names) :]
    attributes = [a for _, a in columns[: len(names)]]
    return Relation(alias.name or name, (*zip(names, attributes, strict=True), *kept))


def _add(session: Session, scope: Scope, item: Item, node: exp.Expr) -> None:
    taken = {r.alias for r in scope.relations}
    for relation in item.relations:
        if relation.alias and relation.alias in taken:
            raise session.source.fault(
                DuplicateColumn, f"{relation.alias!r} stands twice in FROM; give it an alias", node
            )
    scope.relations.extend(item.relations)
    scope.merged.update(item.merged)


def _join(session: Session, env: Environment, scope: Scope, left: Plan, node: exp.Join) -> Plan:
    session.source.only(node, ("this", "on", "using", "kind", "side", "method"))
    if node.kind not in ("", "INNER", "CROSS", "OUTER"):
        raise session.source.unsupported(f"{node.kind} JOIN", node)
    if node.method not in ("", "NATURAL"):
        raise session.source.unsupported(f"{node.method} JOIN", node)
    side = node.side or "INNER"
    item = _item(session, env, scope, node.this)
    if item.lateral and side not in ("INNER", "LEFT"):
        raise session.source.unsupported(f"{side} JOIN LATERAL", node)
    names = _using(session, scope, item, node)
    pairs = [_pair(session, env, scope, item, name, node) for name in names]
    if side in ("RIGHT", "FULL"):
        scope.widen()
    _add(session, scope, _widened(item) if side in ("LEFT", "FULL") else item, node.this)
    binder = Binder(session, env, scope, "JOIN ON", handlers=HANDLERS)
    condition = node.args.get("on")
    on = TRUE if condition is None else decided(binder, condition)
    if binder.pending:
        if side != "INNER" or item.lateral:
            raise session.source.unsupported("a subquery in the condition of an outer join", node)
        return Filter(attach(Join("inner", left, item.plan, TRUE), binder.pending), on)
    predicate = conjunction([*(e for _, _, e in pairs), on])
    plan = _combined(side, left, item, predicate)
    return _merge(session, scope, plan, side, names, pairs)


def _combined(side: str, left: Plan, item: Item, predicate: Expression) -> Plan:
    if side == "RIGHT":
        return Join("left", item.plan, left, predicate)
    kinds: dict[str, JoinKind] = {"INNER": "inner", "LEFT": "left", "FULL": "full"}
    kind = kinds[side]
    if item.lateral:
        return Apply(kind, left, item.plan, predicate)
    return Join(kind, left, item.plan, predicate)


def _widened(item: Item) -> Item:
    scope = Scope(relations=list(item.relations), merged=dict(item.merged))
    scope.widen()
    return replace(item, relations=tuple(scope.relations), merged=scope.merged)


def _using(session: Session, scope: Scope, item: Item, node: exp.Join) -> list[str]:
    """The columns named by USING, or shared by the sides of a NATURAL join."""
    if node.method == "NATURAL":
        ours = {name for name, _ in scope.star()}
        return [n for n, _ in Scope(None, list(item.relations), item.merged).star() if n in ours]
    return [identifier.name for identifier in node.args.get("using") or []]


def _pair(
    session: Session, env: Environment, scope: Scope, item: Item, name: str, node: exp.Join
) -> tuple[Attribute, Attribute, Expression]:
    """The two columns called `name`, and their equality."""
    right_scope = Scope(None, list(item.relations), item.merged)
    found = []
    for side in (scope, right_scope):
        columns = side.lookup(name, None)
        if not columns:
            raise session.source.fault(UnknownColumn, f"no column {name!r} on one side", node)
        if len(columns) > 1:
            raise session.source.fault(AmbiguousColumn, f"column {name!r} is ambiguous", node)
        found.append(columns[0])
    left, right = found
    binder = Binder(session, env, scope, "USING", handlers=HANDLERS)
    equal = compare_bound(binder, "eq", "=", (node, left.column), (node, right.column))
    return left, right, equal


def _merge(
    session: Session,
    scope: Scope,
    plan: Plan,
    side: str,
    names: list[str],
    pairs: list[tuple[Attribute, Attribute, Expression]],
) -> Plan:
    """Let each USING column stand for both: the preserved side's, or whichever is not NULL."""
    outputs = []
    for name, (left, right, _) in zip(names, pairs, strict=True):
        if side == "FULL":
            if left.type != right.type:
                raise session.source.unsupported(f"FULL JOIN USING {name} of two types")
            both = (left.widened().column, right.widened().column)
            value = Call("coalesce", both, left.type, True)
            merged = session.numbers.fresh(name, value)
            outputs.append((merged, value))
        else:
            merged = right if side == "RIGHT" else left
        scope.merged[name] = merged
    if not outputs:
        return plan
    return Project(plan, (*((a, a.column) for a in plan.attributes), *outputs))
