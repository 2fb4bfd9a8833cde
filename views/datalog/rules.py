"""Translates a rule to a SELECT.

The relations of its body are FROM, in their order; a variable is the column where it first stands,
and an equality where it stands again. A negation is NOT EXISTS. A computed value is a LATERAL
SELECT of it, and an aggregate one over its own body, which reads the columns outside of it.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from sqlglot import exp
from sqlglot.errors import SqlglotError

from views.datalog.parse import comparison
from views.datalog.syntax import (
    Aggregate,
    Atom,
    Comparison,
    Literal,
    Negation,
    Rule,
    Term,
    is_constant,
    is_variable,
    names,
    occurrences,
    own_terms,
    placed,
    start_of,
    variables,
)
from views.errors import TypeMismatch, UnboundVariable, UnknownColumn, UnknownFunction, suggestion
from views.sql.aggregates.calls import AGGREGATES
from views.sql.base.binder import key_of
from views.sql.source.dialect import function
from views.sql.source.text import Source

Columns = Callable[[Atom], Sequence[str]]
"""The names of the columns of an atom's relation (raises UnknownTable)."""
_SYNONYMS = {"mean": "avg"}
_VALUE = "value"


def select(rule: Rule, columns: Columns, source: Source) -> exp.Select:
    """Makes the SELECT of `rule`, whose outputs are `column1`, `column2`, …

    Raises UnboundVariable, UnknownTable, UnknownColumn, UnknownFunction, TypeMismatch.
    """
    terms = rule.head.terms
    body = Body(source, columns, names(*terms))
    body.add(rule.body)
    outputs = [
        exp.Alias(this=body.resolved(term), alias=_identifier(f"column{i + 1}"))
        for i, term in enumerate(terms)
    ]
    return body.select(outputs)


@dataclass(slots=True)
class Body:
    """Collects the literals of a rule or an aggregate for a SELECT.

    `visible` names the variables of this level and of those around it; `bound` maps a variable to
    its term, once that is known.
    """

    source: Source
    columns: Columns
    visible: set[str]
    bound: dict[str, Term] = field(default_factory=dict)
    aliases: Iterator[int] = field(default_factory=lambda: count(1))
    items: list[exp.Expr] = field(default_factory=list)
    conditions: list[Term] = field(default_factory=list)

    def add(self, literals: Sequence[Literal]) -> None:
        """Takes the literals in, each as soon as the variables that it needs are bound."""
        for literal in literals:
            self.visible |= names(*own_terms(literal))
        waiting: list[Literal] = []
        for literal in literals:
            waiting.append(literal)
            before = None
            while before != (len(waiting), len(self.bound)):
                before = len(waiting), len(self.bound)
                waiting = [later for w in waiting for later in self._take(w)]
        if waiting:
            self._refuse(waiting[0])

    def _take(self, literal: Literal) -> list[Literal]:
        """Takes `literal` in, and lists the literals that have to wait for it."""
        match literal:
            case Atom():
                return self._relation(literal)
            case Negation():
                return self._negation(literal)
            case Comparison(right=Aggregate() as aggregate):
                return self._aggregate(literal, aggregate)
            case Comparison(operator=operator, left=left, right=right):
                assert isinstance(right, exp.Expr)
                if operator == "=" and self._assign(left, right):
                    return []
                if not self._knows(left, right):
                    return [literal]
                self.conditions.append(
                    comparison(operator, self.resolved(left), self.resolved(right))
                )
        return []

    def _relation(self, atom: Atom) -> list[Literal]:
        table, pairs = self._table(atom)
        self.items.append(table)
        waiting: list[Literal] = []
        for column, term in pairs:
            if is_variable(term) and term.name not in self.bound:
                self.bound[term.name] = column
            elif self._knows(term):
                self.conditions.append(comparison("=", column, self.resolved(term)))
            else:
                name = f"{atom.relation}.{column.name}.{next(self.aliases)}"
                self.bound[name] = column
                waiting.append(Comparison("=", placed(_variable(name), start_of(term)), term))
        return waiting

    def _negation(self, literal: Negation) -> list[Literal]:
        if not self._knows(*literal.atom.terms):
            return [literal]
        table, pairs = self._table(literal.atom)
        same = [comparison("=", column, self.resolved(term)) for column, term in pairs]
        found = _select([exp.Literal.number(1)], [table], same)
        self.conditions.append(exp.Not(this=exp.Exists(this=found)))
        return []

    def _table(self, atom: Atom) -> tuple[Term, list[tuple[Term, Term]]]:
        """The relation under a new alias, and its columns that `atom` names with their terms."""
        known = self.columns(atom)
        given = atom.arguments
        if all(a.name is None for a in given) and len(given) != len(known):
            raise self.source.fault_at(
                TypeMismatch,
                f"{atom.relation!r} has {len(known)} columns ({', '.join(known)}), not "
                f"{len(given)}; name those that matter, as in "
                f"{atom.relation}({known[0]}: x), to leave the others open",
                atom.at,
            )
        alias = self._alias()
        pairs = []
        for i, argument in enumerate(given):
            name = known[i] if argument.name is None else argument.name
            if name not in known:
                raise self.source.fault_at(
                    UnknownColumn,
                    f"{atom.relation!r} has no column {name!r}{suggestion(name, known)}",
                    atom.at,
                )
            if argument.term is not None:
                column = _column(alias, name)
                pairs.append((placed(column, start_of(argument.term)), argument.term))
        table = exp.Table(this=_identifier(atom.relation), alias=_table_alias(alias))
        return placed(table, atom.at), pairs

    def _assign(self, left: Term, right: Term) -> bool:
        """Whether `left = right` gives a variable its value."""
        for variable, value in ((left, right), (right, left)):
            if is_variable(variable) and variable.name not in self.bound and self._knows(value):
                if is_variable(value) or is_constant(value):
                    self.bound[variable.name] = self.resolved(value)
                else:
                    self.bound[variable.name] = self._lateral([self.resolved(value)], [], [])
                return True
        return False

    def _aggregate(self, literal: Comparison, aggregate: Aggregate) -> list[Literal]:
        inside = {v.name for v in occurrences(literal)} - names(literal.left)
        shared = inside & self.visible
        if not shared <= self.bound.keys():
            return [literal]
        is_open = is_variable(literal.left) and literal.left.name not in self.bound
        if not is_open and not self._knows(literal.left):
            return [literal]
        around = {name: self.bound[name] for name in shared}
        arguments = aggregate.arguments
        inner = Body(self.source, self.columns, shared | names(*arguments), around, self.aliases)
        inner.add(aggregate.body)
        function, never_null = self._function(aggregate, [inner.resolved(a) for a in arguments])
        value = self._lateral([function], inner.items, inner.conditions)
        if is_open:
            self.bound[literal.left.name] = value
            if not never_null:
                missing = exp.Is(this=value.copy(), expression=exp.Null())
                self.conditions.append(exp.Not(this=missing))
        else:
            self.conditions.append(comparison("=", value, self.resolved(literal.left)))
        return []

    def _function(self, aggregate: Aggregate, arguments: list[Term]) -> tuple[Term, bool]:
        """The aggregate as SQL's, and whether it has a value even of no rows."""
        name = _SYNONYMS.get(aggregate.function, aggregate.function)
        try:
            node = function(name, *(arguments or [exp.Star()]))
        except (SqlglotError, ValueError, IndexError, AttributeError, TypeError):
            node = None
        if node is None or key_of(node) not in AGGREGATES:
            reason = f"no aggregate {aggregate.function}()"
            raise self.source.fault_at(UnknownFunction, reason, aggregate.at)
        if not arguments and name != "count":
            reason = f"{name} takes an expression, as in {name}(x) : {{ … }}"
            raise self.source.fault_at(UnknownFunction, reason, aggregate.at)
        placed(node, aggregate.at)
        if name == "sum":
            return exp.Coalesce(this=node, expressions=[exp.Literal.number(0)]), True
        return node, name == "count"

    def _lateral(self, outputs: list[Term], items: list[exp.Expr], conditions: list[Term]) -> Term:
        """The one column of a SELECT for each row so far."""
        alias = self._alias()
        named: list[exp.Expr] = [
            exp.Alias(this=output, alias=_identifier(_VALUE)) for output in outputs
        ]
        query = exp.Subquery(this=_select(named, items, conditions))
        self.items.append(exp.Lateral(this=query, alias=_table_alias(alias)))
        return _column(alias, _VALUE)

    def _knows(self, *terms: Term) -> bool:
        return names(*terms) <= self.bound.keys()

    def _alias(self) -> str:
        return f"t{next(self.aliases)}"

    def resolved(self, term: Term) -> Term:
        """Rewrites `term` over columns instead of variables (raises UnboundVariable)."""
        for variable in variables(term):
            if variable.name not in self.bound:
                raise self._unbound(variable)

        def value(node: exp.Expr) -> exp.Expr:
            if not isinstance(node, exp.Column):
                return node
            return placed(self.bound[node.name].copy(), start_of(node))

        return term.transform(value)

    def _refuse(self, literal: Literal) -> None:
        """Name a variable that `literal` waits for: of an aggregate, one inside its braces."""
        terms = own_terms(literal)
        inner = [v for v in occurrences(literal) if v.name in self.visible - names(*terms)]
        free = [v for v in [*inner, *variables(*terms)] if v.name not in self.bound]
        raise self._unbound(free[0])

    def _unbound(self, variable: exp.Column) -> UnboundVariable:
        near = suggestion(variable.name, [n for n in self.bound if "." not in n])
        return self.source.fault(
            UnboundVariable,
            f"variable {variable.name!r} has no values: it must stand in a relation of the same "
            f"body that is not negated, or be given one by ={near}",
            variable,
        )

    def select(self, outputs: Sequence[exp.Expr]) -> exp.Select:
        """Makes the SELECT of `outputs`."""
        return _select(outputs, self.items, self.conditions)


def _select(
    outputs: Sequence[exp.Expr], items: Sequence[exp.Expr], conditions: Sequence[Term]
) -> exp.Select:
    query = exp.Select(expressions=list(outputs))
    if items:
        query.set("from_", exp.From(this=items[0]))
        query.set("joins", [exp.Join(this=item) for item in items[1:]])
    if conditions:
        query.set("where", exp.Where(this=exp.and_(*conditions, copy=False)))
    return query


def _identifier(name: str) -> exp.Identifier:
    return exp.Identifier(this=name, quoted=True)


def _variable(name: str) -> exp.Column:
    return exp.Column(this=_identifier(name))


def _column(alias: str, name: str) -> exp.Column:
    return exp.Column(this=_identifier(name), table=_identifier(alias))


def _table_alias(alias: str) -> exp.TableAlias:
    return exp.TableAlias(this=_identifier(alias))
