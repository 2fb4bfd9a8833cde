"""The syntax tree of a program.

A term is an expression of SQL whose columns are the rule's variables; so its types, conversions
and functions are SQL's, and it says where in the text it stands (`start` of its leaves).
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from sqlglot import exp

Term: TypeAlias = exp.Expr


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of an atom, by position unless it has a `name`; None for a wildcard."""

    name: str | None
    term: Term | None


@dataclass(frozen=True, slots=True)
class Atom:
    """`relation(arguments)`."""

    relation: str
    arguments: tuple[Argument, ...]
    at: int = field(compare=False)

    @property
    def terms(self) -> tuple[Term, ...]:
        """The arguments that are no wildcards."""
        return tuple(a.term for a in self.arguments if a.term is not None)


@dataclass(frozen=True, slots=True)
class Negation:
    """`!atom`."""

    atom: Atom


@dataclass(frozen=True, slots=True)
class Aggregate:
    """`function(arguments) : { body }`; `count` has no arguments."""

    function: str
    arguments: tuple[Term, ...]
    body: tuple["Literal", ...]
    at: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`left operator right`."""

    operator: str
    left: Term
    right: Term | Aggregate


Literal: TypeAlias = Atom | Negation | Comparison


@dataclass(frozen=True, slots=True)
class Rule:
    """`head :- body.`; a fact has no body. No argument of a head is a wildcard or has a name."""

    head: Atom
    body: tuple[Literal, ...]


@dataclass(frozen=True, slots=True)
class Declaration:
    """`.decl relation(name: type, …)`."""

    relation: str
    columns: tuple[tuple[str, str], ...]
    at: int


@dataclass(frozen=True, slots=True)
class Program:
    """Declarations and rules, by their relation; the view is `result`, named at `at`."""

    declarations: Mapping[str, Declaration]
    rules: Mapping[str, tuple[Rule, ...]]
    result: str
    at: int


def placed(node: Term, at: int) -> Term:
    """Notes that `node` stands at the character `at`, counted from 0."""
    node.meta["start"] = at
    return node


def start_of(term: Term) -> int:
    """Finds the character at which `term` starts."""
    return min(int(node.meta["start"]) for node in term.walk() if "start" in node.meta)


def by_relation(rules: Iterable[Rule]) -> dict[str, tuple[Rule, ...]]:
    """Groups rules by the relation of their heads, in order."""
    found: dict[str, list[Rule]] = {}
    for rule in rules:
        found.setdefault(rule.head.relation, []).append(rule)
    return {name: tuple(own) for name, own in found.items()}


def variables(*terms: Term) -> Iterator[exp.Column]:
    """Yields the occurrences of variables in `terms`."""
    for term in terms:
        yield from term.find_all(exp.Column)


def names(*terms: Term) -> set[str]:
    """Collects the names of the variables in `terms`."""
    return {v.name for v in variables(*terms)}


def is_variable(term: Term) -> bool:
    """Tells whether `term` is a variable and nothing else."""
    return isinstance(term, exp.Column)


def is_constant(term: Term) -> bool:
    """Tells whether `term` is a constant; a number may have a sign."""
    inner = term.this if isinstance(term, exp.Neg) else term
    return isinstance(inner, exp.Literal | exp.Boolean) or isinstance(term, exp.Null)


def own_terms(literal: Literal) -> tuple[Term, ...]:
    """Lists the terms of a literal, but for those inside an aggregate."""
    match literal:
        case Atom():
            return literal.terms
        case Negation():
            return literal.atom.terms
        case Comparison(right=right):
            return (literal.left,) if isinstance(right, Aggregate) else (literal.left, right)


def occurrences(literal: Literal) -> Iterator[exp.Column]:
    """Yields the occurrences of variables in a literal, those inside an aggregate's braces too."""
    yield from variables(*own_terms(literal))
    if isinstance(literal, Comparison) and isinstance(literal.right, Aggregate):
        yield from variables(*literal.right.arguments)
        for inner in literal.right.body:
            yield from occurrences(inner)
