"""Binds the relations of a program, component by component, with SQL's types and conversions.

A relation is the distinct union of its rules. Relations that depend on one another are a fixed
point; their columns' types are found by binding their rules again, with the types found so far,
until these no longer change.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
from sqlglot import exp

from ivm.dataflow.expressions import Expression, Literal, Value
from views.catalog import Catalog
from views.datalog.rules import select
from views.datalog.strata import is_recursive, reads
from views.datalog.syntax import Atom, Program, Term, is_constant, is_variable
from views.errors import (
    BadDefinition,
    InvalidLiteral,
    QueryTooLarge,
    TypeMismatch,
    UnknownTable,
    suggestion,
)
from views.limits import MOST_NODES
from views.plan.keys import unique_key
from views.plan.nodes import Attribute, Constant, Distinct, Iterate, Map, Plan, Recursive, Union
from views.plan.trees import inputs, renamed
from views.sql.base.binder import Binder
from views.sql.base.coercion import TEXT, cast, common_type, fitted
from views.sql.base.scope import BoundQuery, Environment, Named, Scope, Session
from views.sql.clauses.handlers import HANDLERS
from views.sql.clauses.queries import bind_query
from views.sql.source.text import Source
from views.types import parse_type, type_name

MAX_PASSES = 20  # over the rules of a component, beyond one for each relation, to find types
MAX_PLAN_DEPTH = 1_000  # nodes on a path from the root of a plan
_TYPES = {"number": "bigint", "symbol": "text", "float": "double precision"}
"""Soufflé's names of types, beside SQL's."""


@dataclass(frozen=True, slots=True)
class Column:
    """A relation's column and its type; None while only text constants are known of it."""

    type: pa.DataType | None
    nullable: bool


Shape = tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A rule with its plan, or without one a fact."""

    terms: tuple[Term, ...]
    plan: BoundQuery | None


class Relations:
    """Holds the relations of one program that are bound so far."""

    def __init__(
        self,
        program: Program,
        catalog: Catalog,
        source: Source,
        columns: Mapping[str, tuple[Attribute, ...]] | None = None,
    ) -> None:
        """Nothing is bound yet; `columns` are like those that some relations will at least have."""
        self.program = program
        self.session = Session(source, catalog, bind_query)
        self._least = columns or {}
        self.names = {name: _column_names(program, name) for name in program.rules}
        self.names |= {n: _distinct(a.name for a in given) for n, given in self._least.items()}
        self._bound: dict[str, Named] = {}
        self._extents: dict[int, tuple[Plan, int, int]] = {}
        self._binder = Binder(
            self.session, Environment(), Scope(), "the head of a rule", handlers=HANDLERS
        )

    def read(self, relation: str) -> BoundQuery:
        """Reads a relation that is bound, under fresh columns."""
        plan, columns = self._bound[relation].make()
        return BoundQuery(plan, columns)

    def bind(self, component: Sequence[str]) -> None:
        """Binds relations that depend on one another, after all others that they read."""
        for name in component:
            self._check_widths(name)
        recursive = is_recursive(self.program, component)
        labels = {name: f"{name}#{self._number()}" for name in component if recursive}
        shapes = self._declared(component)
        rows: dict[str, list[Rows]] = {}
        for _ in range(MAX_PASSES + len(component)):
            before = dict(shapes)
            for name in component:
                rows[name] = self._rows(name, labels, shapes)
                shape = self._shape(name, rows[name], shapes)
                if shape is not None:
                    shapes[name] = shape
            if not recursive or shapes == before:
                break
        else:
            self._refuse(component[0], "its types grow without end; declare them by .decl")
        for name in component:
            if name not in shapes:
                self._refuse(name, "every rule of it reads it; declare its columns by .decl")
        bodies = {name: self._body(name, rows[name], shapes[name]) for name in component}
        self._keep(component, labels, bodies)

    def _keep(
        self, component: Sequence[str], labels: Mapping[str, str], bodies: Mapping[str, Plan]
    ) -> None:
        bindings = tuple((label, bodies[name]) for name, label in labels.items())
        for name in component:
            plan = bodies[name]
            if labels:
                fresh = tuple(self.session.numbers.fresh(a.name, a) for a in plan.attributes)
                plan = Iterate(bindings, labels[name], fresh)
            nodes, depth = self._extent(plan)
            if nodes > MOST_NODES or depth > MAX_PLAN_DEPTH:
                raise QueryTooLarge(
                    f"the plan of {name!r} has more than {MOST_NODES:,} nodes, or is nested more "
                    f"than {MAX_PLAN_DEPTH:,} deep"
                )
            self._bound[name] = self._named(name, plan)

    def _extent(self, plan: Plan) -> tuple[int, int]:
        """Counts the nodes of `plan` and its depth; parts that relations share are visited once."""
        if id(plan) not in self._extents:
            below = [self._extent(part) for part in inputs(plan)]
            nodes = 1 + sum(n for n, _ in below)
            depth = 1 + max((d for _, d in below), default=0)
            self._extents[id(plan)] = plan, nodes, depth
        return self._extents[id(plan)][1:]

    def _named(self, name: str, plan: Plan) -> Named:
        def make() -> tuple[Plan, tuple[tuple[str, Attribute], ...]]:
            again, fresh = renamed(plan, self.session.numbers)
            columns = (fresh[a.number] for a in plan.attributes)
            return again, tuple(zip(self.names[name], columns, strict=True))

        return Named(make)

    def _recursive(self, name: str, label: str, shape: Shape) -> Named:
        def make() -> tuple[Plan, tuple[tuple[str, Attribute], ...]]:
            attributes = self._attributes(name, shape)
            return Recursive(label, attributes), tuple((a.name, a) for a in attributes)

        return Named(make)

    def _attributes(self, name: str, shape: Shape) -> tuple[Attribute, ...]:
        return tuple(
            self.session.numbers.new(n, c.type or TEXT, c.nullable)
            for n, c in zip(self.names[name], shape, strict=True)
        )

    def _number(self) -> int:
        return self.session.numbers.new("", pa.bool_(), False).number

    def _columns(self, atom: Atom) -> Sequence[str]:
        """The names of the columns of an atom's relation."""
        if atom.relation in self.names:
            return self.names[atom.relation]
        entry = self.session.catalog.get(atom.relation)
        if entry is None:
            near = suggestion(atom.relation, [*self.names, *self.session.catalog])
            raise self.session.source.fault_at(
                UnknownTable, f"no relation, table or view {atom.relation!r}{near}", atom.at
            )
        return list(entry.schema.names)[: entry.seen]

    # --- rules ---

    def _rows(
        self, name: str, labels: Mapping[str, str], shapes: Mapping[str, Shape]
    ) -> list[Rows]:
        """The rules of `name` as far as the relations that they read have a shape."""
        named = dict(self._bound)
        named |= {n: self._recursive(n, labels[n], s) for n, s in shapes.items() if n in labels}
        environment = Environment(named)
        rows = []
        for rule in self.program.rules[name]:
            terms = rule.head.terms
            query = select(rule, self._columns, self.session.source)
            if not rule.body and all(is_constant(t) for t in terms):
                rows.append(Rows(terms, None))
            elif all(a.relation not in labels or a.relation in named for a, _ in reads(rule.body)):
                rows.append(Rows(terms, bind_query(self.session, environment, query)))
        return rows

    def _declared(self, component: Iterable[str]) -> dict[str, Shape]:
        found = {
            name: tuple(Column(a.type, False) for a in self._least[name])
            for name in component
            if name in self._least
        }
        for name in component:
            declaration = self.program.declarations.get(name)
            if declaration is not None:
                try:
                    kinds = [parse_type(_TYPES.get(t, t)) for _, t in declaration.columns]
                except BadDefinition as error:
                    raise self.session.source.fault_at(
                        TypeMismatch, str(error), declaration.at
                    ) from error
                found[name] = tuple(Column(kind, False) for kind in kinds)
        return found

    def _check_widths(self, name: str) -> None:
        width = len(self.names[name])
        for rule in self.program.rules[name]:
            if len(rule.head.terms) != width:
                raise self.session.source.fault_at(
                    TypeMismatch,
                    f"{name!r} has {len(rule.head.terms)} columns here, and {width} elsewhere",
                    rule.head.at,
                )

    # --- types ---

    def _shape(self, name: str, rows: Sequence[Rows], before: Mapping[str, Shape]) -> Shape | None:
        """Finds the types in which all of `rows` meet; None if there are none yet."""
        known = before.get(name)
        if not rows:
            return known
        width = len(self.names[name])
        return tuple(
            self._column(name, i, rows, None if known is None else known[i]) for i in range(width)
        )

    def _column(self, name: str, i: int, rows: Sequence[Rows], before: Column | None) -> Column:
        is_declared = name in self.program.declarations
        kind = None if before is None else before.type
        nullable = before is not None and before.nullable
        constants = []
        for row in rows:
            if isinstance(row.terms[i], exp.Null):
                nullable = True
            elif is_constant(row.terms[i]):
                constants.append(row.terms[i])
            elif row.plan is not None:
                found = row.plan.columns[i][1]
                kind = self._meet(name, i, kind, found.type, row.terms[i], is_declared)
                nullable = nullable or found.nullable
        for term in constants:
            value = self._binder.bind(term)
            if isinstance(value, Literal) and (kind is None or fitted(value, kind) is None):
                kind = self._meet(name, i, kind, value.type, term, is_declared)
        return Column(kind, nullable)

    def _meet(
        self,
        name: str,
        i: int,
        kind: pa.DataType | None,
        found: pa.DataType,
        term: Term,
        is_declared: bool,
    ) -> pa.DataType:
        common = found if kind is None else common_type(kind, found)
        if kind is not None and (common is None or (is_declared and common != kind)):
            what = "declared" if is_declared else "elsewhere"
            raise self._binder.mismatch(
                f"column {self.names[name][i]!r} of {name!r} is {type_name(found)} here and "
                f"{what} {type_name(kind)}; convert it, as in x::{type_name(kind)}",
                term,
            )
        assert common is not None
        return common

    # --- rows ---

    def _body(self, name: str, rows: Sequence[Rows], shape: Shape) -> Plan:
        """The distinct rows of all rules."""
        plans = [self._converted(row.terms, row.plan, shape) for row in rows if row.plan]
        facts = [self._fact(row.terms, shape) for row in rows if row.plan is None]
        if facts:
            plans.append(Constant(tuple(facts), self._attributes(name, shape)))
        if len(plans) == 1 and unique_key(plans[0]) is not None:
            return plans[0]
        if len(plans) == 1:
            return Distinct(plans[0])
        return Distinct(Union(tuple(plans), self._attributes(name, shape)))

    def _converted(self, terms: Sequence[Term], query: BoundQuery, shape: Shape) -> Plan:
        outputs = []
        for term, (_, own), column in zip(terms, query.columns, shape, strict=True):
            kind = column.type or TEXT
            value = self._constant(term, kind) if is_constant(term) else cast(own.column, kind)
            outputs.append((self.session.numbers.fresh(own.name, value), value))
        return Map(query.plan, tuple(outputs))

    def _fact(self, terms: Sequence[Term], shape: Shape) -> tuple[Value | None, ...]:
        values = []
        for term, column in zip(terms, shape, strict=True):
            value = self._constant(term, column.type or TEXT)
            if not isinstance(value, Literal):
                raise self.session.source.fault(
                    InvalidLiteral, f"not a value of type {type_name(column.type or TEXT)}", term
                )
            values.append(value.value)
        return tuple(values)

    def _constant(self, term: Term, kind: pa.DataType) -> Expression:
        bound = self._binder.bind(term)
        value = self._binder.typed(bound, kind, term)
        if common_type(value.type, kind) is None:
            raise self._binder.mismatch(
                f"a constant of type {type_name(value.type)} here is no {type_name(kind)}", term
            )
        return cast(value, kind)

    def _refuse(self, name: str, why: str) -> None:
        raise self.session.source.fault_at(
            TypeMismatch,
            f"the types of {name!r} are not known: {why}",
            self.program.rules[name][0].head.at,
        )


def _column_names(program: Program, relation: str) -> tuple[str, ...]:
    """The declared names, or those of the variables in the first head; all different."""
    declaration = program.declarations.get(relation)
    if declaration is not None:
        return tuple(name for name, _ in declaration.columns)
    terms = program.rules[relation][0].head.terms
    return _distinct(term.name if is_variable(term) else "" for term in terms)


def _distinct(given: Iterable[str]) -> tuple[str, ...]:
    """The names, of which those that are empty or taken are called by their position."""
    names: list[str] = []
    for i, name in enumerate(given):
        names.append(f"column{i + 1}" if not name or name in names else name)
    return tuple(names)
