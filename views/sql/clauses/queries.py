"""Binds whole queries: WITH, set operations, VALUES, and ORDER BY over them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Literal
from views.errors import UnknownColumn
from views.plan.nodes import (
    Attribute,
    Constant,
    Distinct,
    Except,
    Join,
    JoinKind,
    Map,
    Plan,
    SortKey,
    Union,
)
from views.plan.scalars import conjunction, test
from views.plan.trees import numbers_of
from views.sql.base.binder import Binder
from views.sql.base.coercion import TEXT, cast, united
from views.sql.base.computations import attach
from views.sql.base.scope import BoundQuery, Environment, Scope, Session, one_row
from views.sql.clauses.ctes import bind_with
from views.sql.clauses.handlers import HANDLERS
from views.sql.clauses.limits import bind_limit
from views.sql.clauses.select import bind_select
from views.types import shown_type

_WRAPPER = ("this", "with_", "order", "limit", "offset")
_SET_OPERATION = (*_WRAPPER, "expression", "distinct")


def bind_query(session: Session, env: Environment, node: exp.Expr) -> BoundQuery:
    """Binds a query to its plan and its columns."""
    env = bind_with(session, env, node)
    match node:
        case exp.Select():
            return bind_select(session, env, node)
        case exp.SetOperation():
            session.source.only(node, _SET_OPERATION)
            return _ordered(session, env, _set_operation(session, env, node), node)
        case exp.Subquery():
            session.source.only(node, _WRAPPER)
            bound = bind_query(session, replace(env, ordered=True), node.this)
            ordered = _ordered(session, env, bound, node)
            return ordered if env.ordered else _without_order(ordered)
        case exp.Values():
            session.source.only(node, ("with_", "expressions", "order", "limit", "offset"))
            return _ordered(session, env, _values(session, env, node), node)
        case _:
            raise session.source.unsupported(f"{node.key.upper()} as a query", node)


def _set_operation(session: Session, env: Environment, node: exp.SetOperation) -> BoundQuery:
    sides = [bind_query(session, env, side) for side in (node.this, node.expression)]
    left, right = _aligned(session, sides, node)
    names = [name for name, _ in sides[0].columns]
    if isinstance(node, exp.Union):
        plan = _union(session, [left, right], names)
        return _columns(Distinct(plan) if node.args.get("distinct") else plan, names)
    if not node.args.get("distinct"):
        return _columns(_counted(session, node, left, right, names), names)
    pairs = zip(left.attributes, right.attributes, strict=True)
    same = conjunction(test("is_not_distinct", a.column, b.column) for a, b in pairs)
    kind: JoinKind = "anti" if isinstance(node, exp.Except) else "semi"
    return _columns(Join(kind, Distinct(left), right, same), names)


def _counted(
    session: Session, node: exp.SetOperation, left: Plan, right: Plan, names: Sequence[str]
) -> Except:
    """Makes EXCEPT ALL; or INTERSECT ALL as left EXCEPT ALL (left EXCEPT ALL right)."""

    def less(right: Plan) -> Except:
        named = zip(names, left.attributes, strict=True)
        return Except((left, right), tuple(session.numbers.fresh(n, a) for n, a in named))

    alone = less(right)
    return alone if isinstance(node, exp.Except) else less(alone)


def _columns(plan: Plan, names: Sequence[str]) -> BoundQuery:
    return BoundQuery(plan, tuple(zip(names, plan.attributes, strict=True)))


def _union(session: Session, plans: Sequence[Plan], names: Sequence[str]) -> Union:
    rows = zip(*(p.attributes for p in plans), strict=True)
    attributes = tuple(
        session.numbers.new(name, column[0].type, any(a.nullable for a in column))
        for name, column in zip(names, rows, strict=True)
    )
    return Union(tuple(plans), attributes)


def _aligned(session: Session, sides: Sequence[BoundQuery], node: exp.Expr) -> tuple[Plan, Plan]:
    """Both sides with the same types; a column of constants takes the other side's type."""
    left, right = sides
    if not (left.columns and right.columns):
        raise session.source.unsupported(f"{node.key.upper()} of rows without columns", node)
    if len(left.columns) != len(right.columns):
        raise session.source.fault(
            UnknownColumn,
            f"the sides of {node.key.upper()} have {len(left.columns)} and "
            f"{len(right.columns)} columns",
            node,
        )
    binder = Binder(session, Environment(), Scope(), node.key.upper(), handlers=HANDLERS)
    targets = []
    constants = [_constants(side) for side in (node.this, node.expression)]
    for i, ((name, a), (_, b)) in enumerate(zip(left.columns, right.columns, strict=True)):
        kind = united([a.type, b.type]) or _null_type(left, a, b) or _null_type(right, b, a)
        if kind is None and (i in constants[0]) != (i in constants[1]):
            kind = b.type if i in constants[0] else a.type
        if kind is None:
            raise binder.mismatch(
                f"column {name!r} is {shown_type(a.type)} on one side of {node.key.upper()} "
                f"and {shown_type(b.type)} on the other; cast one of them",
                node,
            )
        targets.append(kind)
    return (
        _cast_columns(binder, left, targets, constants[0]),
        _cast_columns(binder, right, targets, constants[1]),
    )


def _constants(query: exp.Expr) -> dict[int, exp.Expr]:
    """The quoted constants in the select list of one side, by place: their type is the other's."""
    while isinstance(query, exp.Subquery):
        query = query.this
    items = query.expressions if isinstance(query, exp.Select) else []
    if any(item.is_star for item in items):
        return {}
    plain = (item.unalias() for item in items)
    return {i: e for i, e in enumerate(plain) if isinstance(e, exp.Literal) and e.is_string}


def _null_type(side: BoundQuery, own: Attribute, other: Attribute) -> pa.DataType | None:
    """The other side's type, if this side's column is the constant NULL."""
    if isinstance(side.plan, Map) and (own, Literal(None, TEXT)) in side.plan.outputs:
        return other.type
    return None


def _cast_columns(
    binder: Binder,
    side: BoundQuery,
    targets: Sequence[pa.DataType],
    constants: Mapping[int, exp.Expr],
) -> Plan:
    session = binder.session
    values = [
        binder.as_type(constants[i], kind, "a constant")
        if i in constants and kind != a.type
        else cast(a.column, kind)
        for i, ((_, a), kind) in enumerate(zip(side.columns, targets, strict=True))
    ]
    fresh = [session.numbers.fresh(n, v) for (n, _), v in zip(side.columns, values, strict=True)]
    return Map(side.plan, tuple(zip(fresh, values, strict=True)))


def _values(session: Session, env: Environment, node: exp.Values) -> BoundQuery:
    """VALUES: rows of constants, or of expressions over nothing."""
    scope = Scope(env.outer)
    rows = [r.expressions if isinstance(r, exp.Tuple) else [r] for r in node.expressions]
    width = len(rows[0])
    binders = [Binder(session, env, scope, "VALUES", handlers=HANDLERS) for _ in rows]
    if any(len(row) != width for row in rows):
        raise binders[0].mismatch("the rows of VALUES differ in length", node)
    bound = [[b.bind(value) for value in row] for b, row in zip(binders, rows, strict=True)]
    columns = [
        binders[0].same_type([row[i] for row in rows], "VALUES", [row[i] for row in bound])
        for i in range(width)
    ]
    names = [f"column{i + 1}" for i in range(width)]
    attributes = tuple(
        session.numbers.new(n, c[0].type, any(v.nullable for v in c))
        for n, c in zip(names, columns, strict=True)
    )
    if all(isinstance(v, Literal) for column in columns for v in column):
        constants = tuple(
            zip(*([v.value for v in c if isinstance(v, Literal)] for c in columns), strict=True)
        )
        return _columns(Constant(constants, attributes), names)
    plans = [
        Map(
            attach(one_row(session), b.pending),
            tuple((session.numbers.fresh(n, v), v) for n, v in zip(names, row, strict=True)),
        )
        for b, row in zip(binders, zip(*columns, strict=True), strict=True)
    ]
    return _columns(_union(session, plans, names), names)


def _ordered(session: Session, env: Environment, bound: BoundQuery, node: exp.Expr) -> BoundQuery:
    """ORDER BY and LIMIT over a whole query, by the names and numbers of its columns."""
    clause = node.args.get("order")
    keys: list[SortKey] = []
    for ordered in clause.expressions if clause is not None else ():
        attribute = _column_of(session, bound, ordered.this)
        keys.append(
            SortKey(
                attribute.column,
                bool(ordered.args.get("desc")),
                bool(ordered.args.get("nulls_first")),
            )
        )
    order = tuple(keys) or bound.order
    plan = bind_limit(session, env, node).of(session, bound.plan, order)
    return BoundQuery(plan, bound.columns, order)


def _without_order(bound: BoundQuery) -> BoundQuery:
    """The query without columns that only its order needs."""
    shown = {a.number: a for _, a in bound.columns}
    if not bound.order or shown.keys() == numbers_of(bound.plan):
        return BoundQuery(bound.plan, bound.columns)
    plan = Map(bound.plan, tuple((a, a.column) for a in shown.values()))
    return BoundQuery(plan, bound.columns)


def _column_of(session: Session, bound: BoundQuery, node: exp.Expr) -> Attribute:
    if isinstance(node, exp.Literal) and not node.is_string and node.this.isdigit():
        if 1 <= int(node.this) <= len(bound.columns):
            return bound.columns[int(node.this) - 1][1]
    elif isinstance(node, exp.Column) and not node.table:
        for name, attribute in bound.columns:
            if name == node.name:
                return attribute
    raise session.source.fault(
        UnknownColumn, "ORDER BY here takes the name or number of an output column", node
    )
