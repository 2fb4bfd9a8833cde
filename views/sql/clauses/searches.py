"""SEARCH and CYCLE of WITH RECURSIVE: rewrites them to columns of the query, as PostgreSQL does.

With DEPTH FIRST each row has the rows of the columns on the path to it, which sort as a walk in
depth comes to them; with BREADTH FIRST the length of the path and its own columns. CYCLE keeps the
path too, marks a row that is on its own path, and goes on from no such row:

    WITH RECURSIVE r (n) AS (base UNION step) CYCLE n SET mark USING path

is the query of the columns n, mark and path

    SELECT n, false, ARRAY[ROW (n)] FROM (base) UNION
    SELECT n, CASE WHEN ROW (n) = ANY (path) THEN true ELSE false END, path || ROW (n)
    FROM (step with r.mark and r.path) WHERE mark <> true
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlglot import exp

from views.errors import DuplicateColumn, SqlError, SqlSyntaxError, UnknownColumn
from views.sql.base.scope import Session
from views.sql.source.searches import Cycle, Search

_INNER = "#step"  # no alias that a query could name


@dataclass(frozen=True, slots=True)
class _Column:
    """A column that a clause adds: its value in the base, and in the step over the row before."""

    name: str
    base: exp.Expr
    step: exp.Expr


def with_columns(session: Session, cte: exp.CTE, names: Sequence[str]) -> exp.CTE:
    """Makes the clauses of `cte`, whose query has the columns `names`, part of its query."""
    search, cycle = cte.args.get("search"), cte.args.get("cycle")
    added = _searched(search) if isinstance(search, Search) else []
    added += _cycled(cycle) if isinstance(cycle, Cycle) else []
    _check(session, cte, names, [column.name for column in added])
    body = cte.this.copy()
    step = body.expression.unnest()
    reference = _reference(session, cte, step)
    carried = [exp.column(column.name, table=reference) for column in added]
    step.set("expressions", [*step.expressions, *carried])
    base = _over(body.this, names, names, [column.base for column in added])
    whole = [*names, *(column.name for column in added)]
    step = _over(step, whole, names, [column.step for column in added])
    if isinstance(cycle, Cycle):
        mark = exp.column(cycle.this.name, table=_INNER)
        step.set("where", exp.Where(this=exp.NEQ(this=mark, expression=_value(cycle))))
    body.set("this", base)
    body.set("expression", step)
    made = cte.copy()
    made.set("this", body)
    alias = made.args["alias"]
    alias.set("columns", [exp.to_identifier(name, quoted=True) for name in whole])
    made.set("search", None)
    made.set("cycle", None)
    body.parent, made.parent = made, cte.parent
    return made


def _over(
    query: exp.Expr, has: Sequence[str], kept: Sequence[str], more: list[exp.Expr]
) -> exp.Select:
    """Selects the columns `kept` of `query`, which has the columns `has`, and `more`."""
    columns = [exp.to_identifier(name, quoted=True) for name in has]
    alias = exp.TableAlias(this=exp.to_identifier(_INNER), columns=columns)
    items: list[exp.Expr] = [exp.column(name, table=_INNER) for name in kept]
    rows = exp.Subquery(this=query, alias=alias)
    return exp.Select(expressions=[*items, *more], from_=exp.From(this=rows))


def _row(columns: Sequence[exp.Expr], first: Sequence[exp.Expr] = ()) -> exp.Tuple:
    read = (exp.column(column.name, table=_INNER) for column in columns)
    return exp.Tuple(expressions=[*first, *read])


def _path(name: str, columns: Sequence[exp.Expr]) -> _Column:
    """The rows of `columns` from the first one on."""
    begun = exp.Array(expressions=[_row(columns)], value_constructor=False)
    longer = exp.DPipe(this=exp.column(name, table=_INNER), expression=_row(columns), safe=True)
    return _Column(name, begun, longer)


def _searched(search: Search) -> list[_Column]:
    name, columns = search.this.name, search.expressions
    if not search.args.get("breadth"):
        return [_path(name, columns)]
    zero = exp.Cast(this=exp.Literal.number(0), to=exp.DataType.build("bigint"))
    before = exp.Dot(
        this=exp.Paren(this=exp.column(name, table=_INNER)), expression=exp.to_identifier("f1")
    )
    deeper = exp.Add(this=before, expression=exp.Literal.number(1))
    return [_Column(name, _row(columns, [zero]), _row(columns, [deeper]))]


def _cycled(cycle: Cycle) -> list[_Column]:
    name, path, columns = cycle.this.name, cycle.args["path"].name, cycle.expressions
    default = cycle.args.get("default") or exp.false()
    known = exp.Any(this=exp.Paren(this=exp.column(path, table=_INNER)))
    found = exp.EQ(this=_row(columns), expression=known)
    branch = exp.If(this=found, true=_value(cycle))
    mark = exp.Case(ifs=[branch], default=default.copy())
    unmarked = exp.Case(ifs=[exp.If(this=exp.false(), true=_value(cycle))], default=default.copy())
    return [_Column(name, unmarked, mark), _path(path, columns)]


def _value(cycle: Cycle) -> exp.Expr:
    return (cycle.args.get("value") or exp.true()).copy()


def _reference(session: Session, cte: exp.CTE, step: exp.Expr) -> str:
    """The name of the rows found so far in FROM of the step."""
    source = session.source
    if not isinstance(step, exp.Select):
        raise source.fault(
            SqlSyntaxError, "with SEARCH or CYCLE the step is one SELECT, after UNION", cte
        )
    clause = step.args.get("from_")
    joined = [join.this for join in step.args.get("joins") or []]
    for table in [clause.this, *joined] if clause is not None else []:
        if isinstance(table, exp.Table) and table.name == cte.alias:
            return str(table.alias_or_name)
    raise source.fault(
        SqlSyntaxError,
        f"with SEARCH or CYCLE, {cte.alias!r} stands itself in FROM of the step",
        cte,
    )


def _check(session: Session, cte: exp.CTE, names: Sequence[str], added: Sequence[str]) -> None:
    """Checks that the clauses name columns of the query, each once, and new ones."""
    clauses = [cte.args[part] for part in ("search", "cycle") if cte.args.get(part) is not None]
    for clause in clauses:
        given = [column.name for column in clause.expressions]
        for i, name in enumerate(given):
            if name not in names:
                raise _fault(
                    session, UnknownColumn, f"{cte.alias!r} has no column {name!r}", clause
                )
            if name in given[:i]:
                raise _fault(session, DuplicateColumn, f"column {name!r} stands twice here", clause)
    taken = list(names)
    for name in added:
        if name in taken:
            said = f"{cte.alias!r} has a column {name!r} already; give the new one another name"
            raise _fault(session, DuplicateColumn, said, cte)
        taken.append(name)


def _fault(session: Session, kind: type[SqlError], message: str, node: exp.Expr) -> SqlError:
    return session.source.fault(kind, message, node)
