"""WITH: queries under names, which the query after them reads as often as it likes.

In WITH RECURSIVE a query may read itself, and others in any order; queries that read one another
are for WITH MUTUALLY RECURSIVE.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from graphlib import CycleError, TopologicalSorter

from sqlglot import exp

from views.errors import DuplicateColumn, QueryTooLarge, UnknownColumn, UnsupportedSql
from views.limits import MOST_NODES
from views.plan.nodes import Attribute, Plan
from views.plan.trees import renamed, size
from views.sql.base.scope import BoundQuery, Environment, Named, Session
from views.sql.clauses.mutual import bind_mutual
from views.sql.clauses.recursion import bind_recursive, is_recursive
from views.sql.source.dialect import MutuallyRecursive


def bind_with(session: Session, env: Environment, node: exp.Expr) -> Environment:
    """Makes the environment inside `node`, with its WITH queries."""
    clause = node.args.get("with_")
    if clause is None:
        return env
    _check_different(session, clause.expressions)
    named = dict(env.named)
    if isinstance(clause, MutuallyRecursive):
        for name, bound in bind_mutual(session, env, clause).items():
            named[name] = _named(session, bound, name, clause)
        return replace(env, named=named)
    session.source.only(clause, ("expressions", "recursive"))
    recursive = bool(clause.args.get("recursive"))
    for cte in _in_order(session, clause) if recursive else clause.expressions:
        is_own = recursive and is_recursive(cte)
        searches = ("search", "cycle") if is_own else ()
        session.source.only(cte, ("this", "alias", "materialized", *searches))
        inner = Environment(dict(named), env.outer)
        if is_own:
            bound = bind_recursive(session, bind_with(session, inner, cte.this), cte)
        else:
            bound = _renamed_columns(session, session.bind_query(session, inner, cte.this), cte)
        named[cte.alias] = _named(session, bound, cte.alias, cte)
    return replace(env, named=named)


def _check_different(session: Session, ctes: Iterable[exp.CTE]) -> None:
    names: set[str] = set()
    for cte in ctes:
        if cte.alias in names:
            raise session.source.fault(DuplicateColumn, f"WITH defines {cte.alias!r} twice", cte)
        names.add(cte.alias)


def _in_order(session: Session, clause: exp.With) -> Sequence[exp.CTE]:
    """The queries, each after those that it reads."""
    by_name = {cte.alias: cte for cte in clause.expressions}
    read = {
        name: {t.name for t in cte.this.find_all(exp.Table) if not t.args.get("db")}
        & (by_name.keys() - {name})
        for name, cte in by_name.items()
    }
    try:
        return [by_name[name] for name in TopologicalSorter(read).static_order()]
    except CycleError as error:
        names = " and ".join(repr(name) for name in dict.fromkeys(error.args[1]))
        raise session.source.fault(
            UnsupportedSql,
            f"{names} read one another, which WITH RECURSIVE does not have; WITH MUTUALLY "
            "RECURSIVE has it: name (column type, …) AS (…)",
            by_name[error.args[1][0]],
        ) from error


def _renamed_columns(session: Session, bound: BoundQuery, cte: exp.CTE) -> BoundQuery:
    names = [c.name for c in cte.args["alias"].args.get("columns") or []]
    if len(names) > len(bound.columns):
        raise session.source.fault(
            UnknownColumn, f"{len(names)} names for {len(bound.columns)} columns", cte
        )
    own = [name for name, _ in bound.columns]
    names += own[len(names) :]
    return BoundQuery(
        bound.plan, tuple((n, a) for n, (_, a) in zip(names, bound.columns, strict=True))
    )


def _named(session: Session, bound: BoundQuery, name: str, node: exp.Expr) -> Named:
    if size(bound.plan) > MOST_NODES:
        raise session.source.fault(
            QueryTooLarge, f"the plan of {name!r} has more than {MOST_NODES:,} nodes", node
        )

    def make() -> tuple[Plan, tuple[tuple[str, Attribute], ...]]:
        plan, fresh = renamed(bound.plan, session.numbers)
        return plan, tuple((column, fresh[a.number]) for column, a in bound.columns)

    return Named(make)
