"""Binds joins in FROM: lists, conditions, USING and NATURAL.

A comma binds less than JOIN. A LATERAL item sees the items before it, a join's condition only the
two sides of the join.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from ivm.dataflow.expressions import Call, Expression
from views.errors import AmbiguousColumn, UnknownColumn
from views.plan.nodes import Apply, Attribute, Filter, JoinKind, Map, Plan
from views.plan.scalars import TRUE, columns_of, conjunction
from views.plan.trees import free_columns, numbers_of
from views.sql.base.binder import Binder
from views.sql.base.coercion import cast, common_type
from views.sql.base.computations import Pending, attach
from views.sql.base.scope import Environment, Relation, Scope, Session, one_row
from views.sql.clauses.asof import asof
from views.sql.clauses.handlers import HANDLERS
from views.sql.clauses.quantifiers import decided
from views.sql.clauses.relations import (
    Item,
    aliased,
    bind_relation,
    is_join_in_parentheses,
    paired,
    reads_before,
    seen,
    together,
)
from views.sql.functions.operators import compare_bound

_KINDS: dict[str, JoinKind] = {"INNER": "inner", "LEFT": "left", "FULL": "full"}


def bind_from(session: Session, env: Environment, node: exp.Select) -> tuple[Plan, Scope]:
    """Binds the rows that a SELECT ranges over, and the names that its expressions may use."""
    clause = node.args.get("from_")
    if clause is None:
        return one_row(session), Scope(env.outer)
    item = From(session, env).listed(clause.this, node.args.get("joins") or [], env.outer)
    return item.plan, item.scope


@dataclass(frozen=True, slots=True)
class From:
    """Binds one FROM clause; `before` are always the items that a LATERAL one may read."""

    session: Session
    env: Environment

    def listed(self, first: exp.Expr, joins: Sequence[exp.Join], before: Scope | None) -> Item:
        """Joins the items between commas, each with its own joins first."""
        begun, *rest = _split(first, joins)
        whole = self._joined(*begun, before)
        for begin, more in rest:
            item = self._joined(begin, more, seen(whole.scope, before))
            scope = together(self.session, whole, item, begin)
            lateral = whole.lateral or item.lateral
            whole = Item(paired("inner", whole, item), scope, lateral)
        return whole

    def _joined(self, first: exp.Expr, joins: Sequence[exp.Join], before: Scope | None) -> Item:
        item = self._item(first, before)
        for join in joins:
            item = self._join(item, join, before)
        return item

    def _item(self, node: exp.Expr, before: Scope | None) -> Item:
        if not is_join_in_parentheses(node):
            return bind_relation(self.session, self.env, before, node)
        self.session.source.only(node, ("this", "joins", "alias"))
        item = self.listed(node.this, [], before)
        alias = node.args.get("alias")
        if alias is None:
            return item
        columns = tuple(item.scope.visible)
        return replace(item, scope=aliased(self.session, self.env, alias, columns, "", node))

    def _join(self, left: Item, node: exp.Join, before: Scope | None) -> Item:
        side = self._side(node)
        own = node.this.args.get("joins") or []
        right = self._joined(node.this, own, seen(left.scope, before))
        if side in ("RIGHT", "FULL") and reads_before(left, right):
            raise self.session.source.unsupported(f"{side} JOIN LATERAL", node)
        if side in ("RIGHT", "FULL"):
            left = self._marked(left, node)
        if side in ("LEFT", "FULL"):
            right = self._marked(right, node)
        both = together(self.session, left, right, node.this)
        names = self._shared(left, right, node)
        pairs = [self._pair(left, right, name, node) for name in names]
        binder = Binder(self.session, self.env, both, "JOIN ON", handlers=HANDLERS)
        condition = node.args.get("on")
        on = TRUE if condition is None else decided(binder, condition)
        predicate = conjunction([*(equal for _, _, equal in pairs), on])
        if node.method == "ASOF":
            plan = self._asof(side, left, right, predicate, binder, pairs, node)
        else:
            plan = self._with_pending(side, left, right, predicate, binder.pending, node)
        sides = [left.scope, right.scope]
        if side in ("RIGHT", "FULL"):
            sides[0] = sides[0].widened()
        if side in ("LEFT", "FULL"):
            sides[1] = sides[1].widened()
        relations = [*sides[0].relations, *sides[1].relations]
        merged = Item(plan, Scope(both.outer, relations), left.lateral or right.lateral)
        return self._merge(merged, sides, side, names, pairs, node)

    def _marked(self, item: Item, node: exp.Join) -> Item:
        """Adds a constant to an optional side of which a whole row is read, to tell padded rows.

        A relation with a column that is never NULL needs none.
        """
        query = node.find_ancestor(exp.Select) or node
        unknown = [r for r in item.scope.relations if not r.optional and r.always is None]
        read = [r for r in unknown if _reads_whole(query, r.alias)]
        if not read:
            return item
        mark = self.session.numbers.fresh("present", TRUE)
        kept = tuple((a, a.column) for a in item.plan.attributes)
        plan = Map(item.plan, (*kept, (mark, TRUE)))
        relations = [replace(r, present=mark) if r in read else r for r in item.scope.relations]
        return replace(item, plan=plan, scope=replace(item.scope, relations=relations))

    def _side(self, node: exp.Join) -> str:
        source = self.session.source
        source.only(node, ("this", "on", "using", "kind", "side", "method", "alias"))
        if node.kind not in ("", "INNER", "CROSS", "OUTER"):
            raise source.unsupported(f"{node.kind} JOIN", node)
        if node.method not in ("", "NATURAL", "ASOF"):
            raise source.unsupported(f"{node.method} JOIN", node)
        return node.side or "INNER"

    def _with_pending(
        self,
        side: str,
        left: Item,
        right: Item,
        on: Expression,
        pending: Sequence[Pending],
        node: exp.Expr,
    ) -> Plan:
        """The join; a subquery in its condition is attached to the side that it reads.

        One that reads both sides is evaluated for each row of the optional side, for each row of
        the other; in an inner join, for each pair.
        """
        of_left, of_both = numbers_of(left.plan), list[Pending]()
        for subquery in pending:
            read = free_columns(subquery.plan).keys() | columns_of(subquery.predicate)
            if read.isdisjoint(of_left):
                right = replace(right, plan=subquery.attach(right.plan))
            elif read.isdisjoint(numbers_of(right.plan)):
                left = replace(left, plan=subquery.attach(left.plan))
            else:
                of_both.append(subquery)
        if side == "RIGHT":
            left, right = right, left
        kind = _KINDS.get(side, "left")
        if not of_both:
            return replace(paired(kind, left, right), predicate=on)
        if kind == "inner":
            return Filter(attach(paired("inner", left, right), of_both), on)
        if kind == "full":
            raise self.session.source.unsupported(
                "a subquery over both sides in the condition of a FULL JOIN", node
            )
        return Apply("left", left.plan, Filter(attach(right.plan, of_both), on), TRUE)

    def _asof(
        self,
        side: str,
        left: Item,
        right: Item,
        predicate: Expression,
        binder: Binder,
        pairs: Sequence[tuple[Attribute, Attribute, Expression]],
        node: exp.Join,
    ) -> Plan:
        """The join to the nearest row; the last column of USING is the one that orders."""
        if binder.pending:
            raise self.session.source.unsupported("a subquery in the condition of ASOF JOIN", node)
        if pairs:
            one, other, _ = pairs[-1]
            order = compare_bound(binder, "ge", ">=", (node, one.column), (node, other.column))
            predicate = conjunction([*(equal for _, _, equal in pairs[:-1]), order])
        return asof(self.session, side, left.plan, right.plan, predicate, node)

    def _shared(self, left: Item, right: Item, node: exp.Join) -> list[str]:
        """The columns named by USING, or shared by the sides of a NATURAL join."""
        if node.method == "NATURAL":
            theirs = {name for name, _ in right.scope.visible}
            return [name for name, _ in left.scope.visible if name in theirs]
        return [identifier.name for identifier in node.args.get("using") or []]

    def _pair(
        self, left: Item, right: Item, name: str, node: exp.Join
    ) -> tuple[Attribute, Attribute, Expression]:
        """The two columns called `name`, and their equality."""
        found = []
        for side in (left, right):
            columns = side.scope.lookup(name, None)
            if not columns:
                raise self.session.source.fault(
                    UnknownColumn, f"no column {name!r} on one side", node
                )
            if len(columns) > 1:
                raise self.session.source.fault(
                    AmbiguousColumn, f"column {name!r} is ambiguous", node
                )
            found.append(columns[0])
        one, other = found
        binder = Binder(self.session, self.env, Scope(), "USING", handlers=HANDLERS)
        equal = compare_bound(binder, "eq", "=", (node, one.column), (node, other.column))
        return one, other, equal

    def _merge(
        self,
        item: Item,
        sides: Sequence[Scope],
        side: str,
        names: Sequence[str],
        pairs: Sequence[tuple[Attribute, Attribute, Expression]],
        node: exp.Join,
    ) -> Item:
        """Merges each pair of USING columns: the preserved side's, or the one that is not NULL."""
        merged: list[tuple[str, Attribute]] = []
        computed: list[tuple[Attribute, Expression]] = []
        for name, (left, right, _) in zip(names, pairs, strict=True):
            value = _merged(left, right, side)
            attribute = right if side == "RIGHT" else left
            if value != attribute.column:
                attribute = self.session.numbers.fresh(name, value)
                computed.append((attribute, value))
            merged.append((name, attribute))
        rest = [c for scope in sides for c in scope.visible if c[0] not in names]
        scope = replace(item.scope, visible=[*merged, *rest])
        alias = node.args.get("alias")
        if alias is not None:
            scope.relations.append(Relation(alias.name, tuple(merged)))
        if not computed:
            return replace(item, scope=scope)
        kept = ((a, a.column) for a in item.plan.attributes)
        return replace(item, scope=scope, plan=Map(item.plan, (*kept, *computed)))


def _reads_whole(query: exp.Expr, alias: str) -> bool:
    """Tells whether a query may read a relation's whole row: by its alias, alone or with a star."""
    columns = query.find_all(exp.Column)
    return any((c.table if isinstance(c.this, exp.Star) else c.name) == alias for c in columns)


def _merged(left: Attribute, right: Attribute, side: str) -> Expression:
    """The value of a USING column, in the type that both columns have in common."""
    kind = common_type(left.type, right.type) or left.type
    if side == "FULL":
        both = tuple(cast(a.widened().column, kind) for a in (left, right))
        return Call("coalesce", both, kind, True)
    return cast(right.column if side == "RIGHT" else left.column, kind)


def _split(first: exp.Expr, joins: Sequence[exp.Join]) -> list[tuple[exp.Expr, list[exp.Join]]]:
    """Splits a list into items: the first relation of each, and the joins that follow it."""
    items: list[tuple[exp.Expr, list[exp.Join]]] = [(first, [])]
    for join in [*(first.args.get("joins") or []), *joins]:
        if join.kind or join.side or join.method or join.args.get("on") or join.args.get("using"):
            items[-1][1].append(join)
        else:
            items.append((join.this, list(join.this.args.get("joins") or [])))
    return items
