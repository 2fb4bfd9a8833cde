"""WITH RECURSIVE: binds a base, and a step over the rows found so far, to a fixed point.

UNION makes a set, and the step may then read the set more than once. UNION ALL makes a bag that
each round adds to, and the step reads it exactly once. Where more rows found could take rows of
the result away (negation, aggregation, ordering), the recursion has no least fixed point and is
refused.
"""

from collections.abc import Iterator
from dataclasses import replace

from sqlglot import exp

from views.errors import NoLeastFixedPoint, TypeMismatch, UnknownColumn
from views.plan.nodes import (
    Apply,
    Attribute,
    Distinct,
    Except,
    Iterate,
    Join,
    Map,
    Plan,
    Recursive,
    Reduce,
    TopK,
    Union,
    Window,
)
from views.plan.trees import inputs
from views.sql.base.coercion import cast, common_type, is_integer
from views.sql.base.scope import BoundQuery, Environment, Named, Session
from views.sql.clauses.searches import with_columns
from views.types import shown_type


def is_recursive(cte: exp.CTE) -> bool:
    """Tells whether a WITH query reads itself, rather than a query of this name inside it."""
    tables = (t for t in cte.this.find_all(exp.Table) if t.name == cte.alias)
    return any(not t.args.get("db") and not _is_hidden(t, cte) for t in tables)


def _is_hidden(table: exp.Table, cte: exp.CTE) -> bool:
    """Tells whether a WITH between `table` and `cte` defines the name that they have."""
    around: exp.Expr | None = table
    while around is not None and around is not cte:
        clause = around.args.get("with_")
        if clause is not None and _defines(clause, table):
            return True
        around = around.parent
    return False


def _defines(clause: exp.With, table: exp.Table) -> bool:
    """Tells whether `table`, in the query of a WITH or in one of its own, is one of these."""
    own = [cte for cte in clause.expressions if cte.alias == table.name]
    is_inside = any(cte is parent for cte in own for parent in _around(table))
    return bool(own) and (not is_inside or bool(clause.args.get("recursive")))


def _around(node: exp.Expr) -> Iterator[exp.Expr]:
    """Yields `node` and the nodes that it is in."""
    inner: exp.Expr | None = node
    while inner is not None:
        yield inner
        inner = inner.parent


def bind_recursive(session: Session, env: Environment, cte: exp.CTE) -> BoundQuery:
    """Binds a recursive WITH query to its fixed point."""
    body, source = cte.this, session.source
    if not isinstance(body, exp.Union):
        raise source.unsupported("a recursive query that is not base UNION [ALL] step", cte)
    source.only(body, ("this", "with_", "expression", "distinct"))
    base = session.bind_query(session, env, body.this)
    names = _names(session, cte, base)
    if cte.args.get("search") is not None or cte.args.get("cycle") is not None:
        return bind_recursive(session, env, with_columns(session, cte, names))
    mark = session.numbers.new(cte.alias, base.columns[0][1].type, nullable=False)
    label = f"{cte.alias}#{mark.number}"
    shape = [a for _, a in base.columns]
    while True:
        step = _bind_step(session, env, cte, label, names, shape)
        wider = [_wider(a, b) for a, (_, b) in zip(shape, step.columns, strict=True)]
        if wider == shape:
            break
        shape = wider
    distinct = bool(body.args.get("distinct"))
    _check_step(session, cte, step.plan, label, distinct)
    parts = tuple(_cast_columns(session, q, names, shape).plan for q in (base, step))
    columns, attributes = (
        tuple(session.numbers.fresh(n, a) for n, a in zip(names, shape, strict=True))
        for _ in range(2)
    )
    rows = Union(parts, columns)
    plan = Iterate(((label, Distinct(rows) if distinct else rows),), label, attributes)
    return BoundQuery(plan, tuple(zip(names, attributes, strict=True)))


def _names(session: Session, cte: exp.CTE, base: BoundQuery) -> list[str]:
    """The names of the columns: those that the query's name lists, then the base's."""
    names = [c.name for c in cte.args["alias"].args.get("columns") or []]
    if len(names) > len(base.columns):
        raise session.source.fault(
            UnknownColumn, f"{len(names)} names for {len(base.columns)} columns", cte
        )
    return names + [name for name, _ in base.columns[len(names) :]]


def _bind_step(
    session: Session,
    env: Environment,
    cte: exp.CTE,
    label: str,
    names: list[str],
    shape: list[Attribute],
) -> BoundQuery:
    """The step, where the query's own name has columns of types and nullability `shape`."""

    def make() -> tuple[Plan, tuple[tuple[str, Attribute], ...]]:
        attributes = tuple(session.numbers.fresh(n, a) for n, a in zip(names, shape, strict=True))
        return Recursive(label, attributes), tuple(zip(names, attributes, strict=True))

    inner = Environment({**env.named, cte.alias: Named(make)}, env.outer)
    step = session.bind_query(session, inner, cte.this.expression)
    if len(step.columns) != len(shape):
        raise session.source.fault(
            UnknownColumn,
            f"the step of {cte.alias!r} has {len(step.columns)} columns, its base {len(shape)}",
            cte,
        )
    for name, wanted, (_, found) in zip(names, shape, step.columns, strict=True):
        if _wider(wanted, found).type != common_type(wanted.type, found.type):
            raise session.source.fault(
                TypeMismatch,
                f"column {name!r} of {cte.alias!r} is {shown_type(wanted.type)} in its base and "
                f"{shown_type(found.type)} in its step; cast one of them",
                cte,
            )
    return step


def _wider(base: Attribute, step: Attribute) -> Attribute:
    """The base's column, nullable where the step's is and, of integers, the wider."""
    both = common_type(base.type, step.type)
    grows = both is not None and is_integer(both) and is_integer(base.type)
    kind = both if both is not None and grows else base.type
    return replace(base, type=kind, nullable=base.nullable or step.nullable)


def _cast_columns(
    session: Session, query: BoundQuery, names: list[str], shape: list[Attribute]
) -> BoundQuery:
    """`query` with the types of `shape`."""
    values = [cast(a.column, w.type) for (_, a), w in zip(query.columns, shape, strict=True)]
    fresh = [session.numbers.fresh(n, v) for n, v in zip(names, values, strict=True)]
    plan = Map(query.plan, tuple(zip(fresh, values, strict=True)))
    return BoundQuery(plan, tuple(zip(names, fresh, strict=True)))


def _check_step(session: Session, cte: exp.CTE, step: Plan, label: str, distinct: bool) -> None:
    """Checks that the step can only add rows as the rows found grow."""
    references = list(_references(step, label, monotone=True))
    if not references:
        raise session.source.unsupported("a recursive query that reads itself in its base", cte)
    if not all(references):
        raise session.source.fault(
            NoLeastFixedPoint,
            f"{cte.alias!r} reading itself under an aggregate, LIMIT, NOT EXISTS, EXCEPT or on "
            "the optional side of an outer join is not supported in WITH RECURSIVE; WITH MUTUALLY "
            "RECURSIVE has it: name (column type, …) AS (…)",
            cte,
        )
    if not distinct and len(references) > 1:
        raise session.source.unsupported(
            f"{cte.alias!r} reading itself twice in a step of UNION ALL; use UNION", cte
        )


def _references(plan: Plan, label: str, monotone: bool) -> Iterator[bool]:
    """For each reading of `label`, whether only monotone operators stand above it."""
    match plan:
        case Recursive():
            if plan.name == label:
                yield monotone
        case Reduce() | TopK() | Window():
            yield from _references(plan.input, label, monotone=False)
        case Except():
            yield from _references(plan.inputs[0], label, monotone)
            yield from _references(plan.inputs[1], label, monotone=False)
        case Join() | Apply():
            left = monotone and plan.kind != "full"
            yield from _references(plan.left, label, left)
            right = monotone and plan.kind in ("inner", "semi")
            yield from _references(plan.right, label, right)
        case _:
            for below in inputs(plan):
                yield from _references(below, label, monotone)
