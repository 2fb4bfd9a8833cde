"""Prints a program as text, one rule on each line."""

from views.datalog.syntax import (
    Aggregate,
    Argument,
    Atom,
    Comparison,
    Literal,
    Negation,
    Program,
    Rule,
    Term,
)
from views.sql.source.dialect import PostgresViews


def program_text(program: Program) -> str:
    """Prints the rules of `program`, and its `.output`."""
    lines = [_rule(rule) for rules in program.rules.values() for rule in rules]
    return "\n".join([*lines, f".output {program.result}"])


def _rule(rule: Rule) -> str:
    body = f" :- {_body(rule.body)}" if rule.body else ""
    return f"{_atom(rule.head)}{body}."


def _body(literals: tuple[Literal, ...]) -> str:
    return ", ".join(map(_literal, literals))


def _literal(literal: Literal) -> str:
    match literal:
        case Atom():
            return _atom(literal)
        case Negation():
            return f"!{_atom(literal.atom)}"
        case Comparison():
            right = literal.right
            shown = _aggregate(right) if isinstance(right, Aggregate) else _term(right)
            return f"{_term(literal.left)} {literal.operator} {shown}"


def _aggregate(aggregate: Aggregate) -> str:
    arguments = ", ".join(map(_term, aggregate.arguments))
    given = f"({arguments})" if arguments else ""
    return f"{aggregate.function}{given} : {{ {_body(aggregate.body)} }}"


def _atom(atom: Atom) -> str:
    return f"{atom.relation}({', '.join(map(_argument, atom.arguments))})"


def _argument(argument: Argument) -> str:
    name = "" if argument.name is None else f"{argument.name}: "
    return name + ("_" if argument.term is None else _term(argument.term))


def _term(term: Term) -> str:
    return term.sql(dialect=PostgresViews)
