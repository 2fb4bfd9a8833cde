"""WITH MUTUALLY RECURSIVE, as Materialize has it: binds names that read one another.

All names are empty at first. In every round the queries are evaluated in order, each replacing the
rows of its name, until none changes any more. So a query may also take rows away again, and the
writer sees to it that the rounds end; a limit on their number may be an error, or the end.

`name (column type, …) PRIORITY BY expression` brings the rows from outside the recursion into it in
ascending order of an expression over the declared columns: those of the next priority once those
before no longer change anything. Least labels are reached with less work when small ones set out
first (differential dataflow, CIDR 2013, section 5).
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Column, Expression, Literal
from views.errors import BadDefinition, InvalidLiteral, TypeMismatch, UnknownColumn
from views.plan.nodes import Attribute, Iterate, Map, Plan, Recursive
from views.plan.scalars import substitute
from views.plan.trees import walk
from views.sql.base.binder import Binder
from views.sql.base.coercion import BIGINT, TEXT, cast, castable, common_type, is_number
from views.sql.base.scope import BoundQuery, Environment, Named, Relation, Scope, Session
from views.sql.clauses.handlers import HANDLERS
from views.sql.source.dialect import MutuallyRecursive
from views.types import parse_type, shown_type

_GUESSES = 3
"""How often queries are bound to find columns without NULL, before all may hold one."""


@dataclass(frozen=True, slots=True)
class _Binding:
    """A name with the columns that it declares; `label` is unique in the plan."""

    cte: exp.CTE
    label: str
    columns: tuple[Attribute, ...]

    def fresh(self, session: Session) -> tuple[Attribute, ...]:
        """Makes the columns once more."""
        return tuple(session.numbers.fresh(a.name, a) for a in self.columns)


def bind_mutual(
    session: Session, env: Environment, clause: MutuallyRecursive
) -> dict[str, BoundQuery]:
    """Binds the names to their fixed points."""
    session.source.only(clause, ("expressions", "recursive", "limit", "stops"))
    bindings, bodies = _bodies(session, env, clause)
    rounds, stops = _limit(session, clause), bool(clause.args.get("stops"))
    found = {}
    for b in bindings:
        read = _read(b.label, bodies)
        parts = tuple((label, body) for label, body in bodies.items() if label in read)
        columns = b.fresh(session)
        plan = Iterate(parts, b.label, columns, rounds, stops, _priorities(session, bindings, read))
        found[b.cte.alias] = BoundQuery(plan, tuple((a.name, a) for a in columns))
    return found


def _bodies(
    session: Session, env: Environment, clause: MutuallyRecursive
) -> tuple[list[_Binding], dict[str, Plan]]:
    """The names and their queries, with the columns that may hold NULL found.

    All are empty at first: columns that hold no NULL as long as none does will never hold one. The
    queries are bound on that assumption, and again without those columns that turn out otherwise.
    """
    nullable: set[tuple[str, str]] = set()
    for last in (False,) * _GUESSES + (True,):
        bindings = [
            _declared(session, cte, None if last else nullable) for cte in clause.expressions
        ]
        named = {b.cte.alias: Named(lambda b=b: _reference(session, b)) for b in bindings}  # type: ignore[misc]
        inner = Environment({**env.named, **named}, env.outer)
        bodies = {b.label: _body(session, inner, b) for b in bindings}
        found = {
            (b.cte.alias, own.name)
            for b in bindings
            for own, given in zip(b.columns, bodies[b.label].attributes, strict=True)
            if given.nullable and not own.nullable
        }
        if not found:
            break
        nullable |= found
    return bindings, bodies


def _priorities(
    session: Session, bindings: Sequence[_Binding], read: Collection[str]
) -> tuple[tuple[str, Expression], ...]:
    """The priorities of the names among `read`, over their columns by position."""
    return tuple(
        (b.label, _priority(session, b, written))
        for b in bindings
        if b.label in read and (written := b.cte.args.get("priority")) is not None
    )


def _priority(session: Session, binding: _Binding, written: exp.Expr) -> Expression:
    columns = tuple((a.name, a) for a in binding.columns)
    scope = Scope(None, [Relation(binding.cte.alias, columns)], list(columns))
    binder = Binder(session, Environment(), scope, "PRIORITY BY", handlers=HANDLERS)
    value = binder.as_type(written, BIGINT, "PRIORITY BY")
    positions = {a.number: Column(i, a.type, a.nullable) for i, a in enumerate(binding.columns)}
    return substitute(value, positions)


def _reference(
    session: Session, binding: _Binding
) -> tuple[Plan, tuple[tuple[str, Attribute], ...]]:
    columns = binding.fresh(session)
    return Recursive(binding.label, columns), tuple((a.name, a) for a in columns)


def _declared(
    session: Session, cte: exp.CTE, nullable: Collection[tuple[str, str]] | None
) -> _Binding:
    """The name that `cte` declares; its columns among `nullable` may hold NULL, or all if None."""
    columns = []
    for column in cte.args["alias"].args["columns"]:
        session.source.only(column, ("this", "kind"))
        kind = column.args.get("kind")
        if kind is None:
            raise session.source.fault(
                InvalidLiteral, f"{cte.alias!r} must declare its columns: name type, …", column
            )
        try:
            declared = parse_type(kind.sql(dialect="postgres"))
        except BadDefinition as error:
            raise session.source.unsupported(str(error), column) from error
        may_be_null = nullable is None or (cte.alias, column.name) in nullable
        columns.append(session.numbers.new(column.name, declared, nullable=may_be_null))
    return _Binding(cte, f"{cte.alias}#{columns[0].number}", tuple(columns))


def _body(session: Session, env: Environment, binding: _Binding) -> Plan:
    """The query of a name, with the columns that this declares."""
    cte = binding.cte
    bound = session.bind_query(session, env, cte.this)
    if len(bound.columns) != len(binding.columns):
        raise session.source.fault(
            UnknownColumn,
            f"{cte.alias!r} declares {len(binding.columns)} columns, its query has "
            f"{len(bound.columns)}",
            cte,
        )
    outputs = []
    for wanted, (_, given) in zip(binding.columns, bound.columns, strict=True):
        if not (_is_null(bound, given) or _assignable(given.type, wanted.type)):
            raise session.source.fault(
                TypeMismatch,
                f"column {wanted.name!r} of {cte.alias!r} is declared as {shown_type(wanted.type)} "
                f"and computed as {shown_type(given.type)}; cast one of them",
                cte,
            )
        value = cast(given.column, wanted.type)
        outputs.append((session.numbers.fresh(wanted.name, value), value))
    return Map(bound.plan, tuple(outputs))


def _is_null(bound: BoundQuery, column: Attribute) -> bool:
    return isinstance(bound.plan, Map) and (column, Literal(None, TEXT)) in bound.plan.outputs


def _assignable(given: pa.DataType, wanted: pa.DataType) -> bool:
    """Whether a value is converted where it is assigned: between numbers, and to text."""
    if common_type(given, wanted) == wanted or (is_number(given) and is_number(wanted)):
        return True
    return bool(wanted == TEXT) and castable(given, wanted)


def _limit(session: Session, clause: MutuallyRecursive) -> int | None:
    limit = clause.args.get("limit")
    if limit is None:
        return None
    if not (isinstance(limit, exp.Literal) and limit.this.isdigit() and int(limit.this) > 0):
        raise session.source.fault(
            InvalidLiteral, "a RECURSION LIMIT is a positive number of rounds", clause
        )
    return int(limit.this)


def _read(label: str, bodies: dict[str, Plan]) -> set[str]:
    """The names that `label` depends on, itself among them."""
    read, pending = {label}, [label]
    while pending:
        for plan in walk(bodies[pending.pop()]):
            if isinstance(plan, Recursive) and plan.name in bodies and plan.name not in read:
                read.add(plan.name)
                pending.append(plan.name)
    return read
