"""The parser: reads a program from its text, within the limits on size and nesting."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from lark import Lark, Token, Transformer, v_args
from lark.exceptions import UnexpectedCharacters, UnexpectedInput, UnexpectedToken, VisitError
from sqlglot import exp
from sqlglot.errors import SqlglotError

from views.datalog.syntax import (
    Aggregate,
    Argument,
    Atom,
    Comparison,
    Declaration,
    Literal,
    Negation,
    Program,
    Rule,
    Term,
    by_relation,
    own_terms,
    placed,
    start_of,
    variables,
)
from views.errors import (
    DuplicateColumn,
    QueryTooLarge,
    SqlError,
    SqlSyntaxError,
    TypeMismatch,
    UnknownFunction,
)
from views.sql.aggregates.calls import AGGREGATES
from views.sql.base.binder import key_of
from views.sql.source.dialect import PostgresViews, function
from views.sql.source.text import Source, check_characters

MAX_CHARACTERS = 100_000  # of a program
MAX_LITERALS = 100  # of a body
MAX_DEPTH = 100  # open parentheses and braces, with signs, at one place
ANSWER = "?-"
"""The relation that a query's answers are; no name in a program is spelled so."""
_SHOWN = {
    "NAME": "a name", "NUMBER": "a number", "STRING": "a string", "COMPARISON": "a comparison",
    "LPAR": "'('", "RPAR": "')'", "COMMA": "','", "DOT": "'.'", "COLON": "':'", "LBRACE": "'{'",
    "RBRACE": "'}'", "BANG": "'!'", "MINUS": "'-'", "_DECLARE": "'.decl'",
    "_OUTPUT": "'.output'", "_ASK": "'?-'", "_IF": "':-'", "WILDCARD": "'_'",
}  # fmt: skip
_COMPARISONS: dict[str, type[exp.Expr]] = {
    "=": exp.EQ, "!=": exp.NEQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE,
}  # fmt: skip
_NESTING = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\Z)|//[^\n]*|/\*.*?(?:\*/|\Z)|\S', re.DOTALL)
"""Strings and comments, whose insides nest nothing, and single characters."""
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r"}


@dataclass(frozen=True, slots=True)
class _Call:
    """`name(arguments)`: a relation or a function, as its place tells."""

    name: Token
    arguments: tuple[Argument, ...]


@dataclass(frozen=True, slots=True)
class _Wildcard:
    """`_`, and where it stands."""

    at: int


@dataclass(frozen=True, slots=True)
class _Output:
    """`.output relation`."""

    relation: str
    at: int


_Operand = Term | _Call | _Wildcard


def comparison(operator: str, left: Term, right: Term) -> Term:
    """Makes the condition `left operator right`."""
    return _COMPARISONS[operator](this=left, expression=right)


def parse(source: Source, nesting: int = MAX_DEPTH) -> Program:
    """Parses the program in the text (raises kinds of SqlError)."""
    if len(source.text) > MAX_CHARACTERS:
        raise QueryTooLarge(
            f"the program has more than {MAX_CHARACTERS:,} characters; facts belong in a table"
        )
    check_characters(source)
    _check_nesting(source, min(nesting, MAX_DEPTH))
    build = _Build(source)
    try:
        statements = _parser().parse(source.text)
        parts = build.transform(statements)
    except UnexpectedInput as error:
        raise _syntax_error(source, error) from error
    except VisitError as error:
        raise error.orig_exc from None
    assert isinstance(parts, list)
    return _program(source, parts)


def _program(source: Source, parts: Sequence[object]) -> Program:
    rules = [p for p in parts if isinstance(p, Rule)]
    outputs = [p for p in parts if isinstance(p, _Output)]
    queries = [r for r in rules if r.head.relation == ANSWER]
    results = [*(o.at for o in outputs), *(q.head.at for q in queries)]
    if not results:
        raise SqlSyntaxError("the program has no result; end it with .output name, or ?- query.")
    if len(results) > 1:
        raise source.fault_at(
            SqlSyntaxError, "a view has one result: one .output, or one query", sorted(results)[1]
        )
    declarations: dict[str, Declaration] = {}
    for part in parts:
        if isinstance(part, Declaration):
            if part.relation in declarations:
                message = f"relation {part.relation!r} is declared twice"
                raise source.fault_at(DuplicateColumn, message, part.at)
            declarations[part.relation] = part
    result = outputs[0].relation if outputs else ANSWER
    return Program(declarations, by_relation(rules), result, results[0])


def _check_nesting(source: Source, most: int) -> None:
    depth = signs = 0
    for token in _NESTING.finditer(source.text):
        at, character = token.start(), token[0]
        depth += (character in "({") - (character in ")}")
        signs = signs + 1 if character == "-" else 0
        if depth + signs > most:
            raise source.fault_at(
                QueryTooLarge,
                f"the program is nested more than {most} deep; define what is inside as a relation",
                at,
            )


def _syntax_error(source: Source, error: UnexpectedInput) -> SqlSyntaxError:
    at: int = error.pos_in_stream  # type: ignore[assignment]
    if isinstance(error, UnexpectedToken):
        accepted = error.accepts or error.expected
        expected = sorted(_SHOWN[name] for name in accepted if name in _SHOWN)
        wanted = f"; expected {', '.join(expected)}" if expected else ""
        if error.token.type == "$END":
            end = len(source.text.rstrip())
            return source.fault_at(SqlSyntaxError, f"the program ends unexpectedly{wanted}", end)
        return source.fault_at(SqlSyntaxError, f"unexpected {error.token.value!r}{wanted}", at)
    assert isinstance(error, UnexpectedCharacters)
    found = source.text[at]
    unclosed = found == '"' or source.text.startswith("/*", at)
    message = "a string or comment is not closed" if unclosed else f"unexpected {found!r}"
    return source.fault_at(SqlSyntaxError, message, at)


def _binary(kind: type[exp.Expr]) -> Callable[["_Build", _Operand, _Operand], Term]:
    def build(self: "_Build", left: _Operand, right: _Operand) -> Term:
        return kind(this=self.term(left), expression=self.term(right))

    return build


@v_args(inline=True)
class _Build(Transformer[Token, Any]):
    """Builds the program's parts bottom up."""

    def __init__(self, source: Source) -> None:
        super().__init__()
        self.source = source

    add = _binary(exp.Add)
    subtract = _binary(exp.Sub)
    multiply = _binary(exp.Mul)
    modulo = _binary(exp.Mod)

    def divide(self, left: _Operand, right: _Operand) -> Term:
        return exp.Div(this=self.term(left), expression=self.term(right), typed=True)

    def program(self, *parts: object) -> list[object]:
        return list(parts)

    def declaration(self, name: Token, *columns: tuple[str, str]) -> Declaration:
        seen = [column for column, _ in columns]
        if len(set(seen)) < len(seen):
            raise self._fault(DuplicateColumn, f"{str(name)!r} has two columns of one name", name)
        return Declaration(str(name), columns, _start(name))

    def column(self, name: Token, kind: str) -> tuple[str, str]:
        return str(name), kind

    def kind(self, *tokens: Token) -> str:
        words = " ".join(t for t in tokens if t.type == "NAME")
        numbers = ", ".join(t for t in tokens if t.type == "NUMBER")
        return f"{words}({numbers})" if numbers else words

    def output(self, name: Token) -> _Output:
        return _Output(str(name), _start(name))

    def query(self, body: tuple[Literal, ...]) -> Rule:
        """Makes a rule for `ANSWER`, with the variables of the query in order."""
        found: dict[str, Term] = {}
        for variable in (v for literal in body for v in variables(*own_terms(literal))):
            found.setdefault(variable.name, variable)
        at = _place_of(body)
        if not found:
            raise self.source.fault_at(
                SqlSyntaxError, "a query needs a variable, for which it is answered", at
            )
        head = tuple(Argument(None, variable) for variable in found.values())
        return Rule(Atom(ANSWER, head, at), body)

    def rule(self, head: _Call, body: tuple[Literal, ...] | None) -> Rule:
        atom = self._atom(head)
        for argument in atom.arguments:
            if argument.name is not None or argument.term is None:
                what = "_ cannot stand" if argument.term is None else "a name cannot stand"
                raise self.source.fault_at(SqlSyntaxError, f"{what} in the head of a rule", atom.at)
        if not atom.arguments:
            raise self.source.fault_at(
                SqlSyntaxError, f"relation {atom.relation!r} needs a column", atom.at
            )
        return Rule(atom, body or ())

    def body(self, *literals: Literal) -> tuple[Literal, ...]:
        if len(literals) > MAX_LITERALS:
            raise self.source.fault_at(
                QueryTooLarge,
                f"a body has more than {MAX_LITERALS} literals",
                _place_of(literals[MAX_LITERALS:]),
            )
        return literals

    def positive(self, given: _Operand) -> Atom:
        if isinstance(given, _Call):
            return self._atom(given)
        at = given.at if isinstance(given, _Wildcard) else start_of(given)
        raise self.source.fault_at(SqlSyntaxError, "a relation or a comparison must stand here", at)

    def negative(self, given: _Call) -> Negation:
        return Negation(self._atom(given))

    def comparison(
        self, left: _Operand, operator: Token, right: _Operand | Aggregate
    ) -> Comparison:
        if isinstance(right, Aggregate):
            if operator != "=":
                raise self._fault(SqlSyntaxError, "an aggregate is given to a name by =", operator)
            return Comparison("=", self.term(left), right)
        return Comparison(str(operator), self.term(left), self.term(right))

    def count(self, function: Token, body: tuple[Literal, ...]) -> Aggregate:
        return Aggregate(str(function), (), body, _start(function))

    def of_variable(self, function: Token, name: Token, body: tuple[Literal, ...]) -> Aggregate:
        return Aggregate(str(function), (self.variable(name),), body, _start(function))

    def of_terms(self, given: _Call, body: tuple[Literal, ...]) -> Aggregate:
        return Aggregate(str(given.name), self._values(given), body, _start(given.name))

    def call(self, name: Token, *arguments: Argument | None) -> _Call:
        return _Call(name, tuple(a for a in arguments if a is not None))

    def argument(self, name: Token | None, given: _Operand) -> Argument:
        term = None if isinstance(given, _Wildcard) else self.term(given)
        return Argument(None if name is None else str(name), term)

    def variable(self, name: Token) -> Term:
        return placed(exp.Column(this=exp.Identifier(this=str(name))), _start(name))

    def wildcard(self, token: Token) -> _Wildcard:
        return _Wildcard(_start(token))

    def number(self, token: Token) -> Term:
        return placed(exp.Literal.number(str(token)), _start(token))

    def string(self, token: Token) -> Term:
        return placed(exp.Literal.string(_unescaped(token[1:-1])), _start(token))

    def true(self, token: Token) -> Term:
        return placed(exp.Boolean(this=True), _start(token))

    def false(self, token: Token) -> Term:
        return placed(exp.Boolean(this=False), _start(token))

    def null(self, token: Token) -> Term:
        return placed(exp.Null(), _start(token))

    def negate(self, given: _Operand) -> Term:
        return exp.Neg(this=self.term(given))

    def cast(self, given: _Operand, kind: str) -> Term:
        term = self.term(given)
        try:
            return exp.Cast(this=term, to=exp.DataType.build(kind, dialect=PostgresViews))
        except (SqlglotError, ValueError) as error:
            raise self.source.fault(TypeMismatch, f"unknown type {kind!r}", term) from error

    def term(self, given: _Operand) -> Term:
        """Reads a value."""
        if isinstance(given, _Wildcard):
            raise self.source.fault_at(
                SqlSyntaxError, "_ can only be an argument of a relation", given.at
            )
        return self._function(given) if isinstance(given, _Call) else given

    def _values(self, given: _Call) -> tuple[Term, ...]:
        """The arguments of a function."""
        terms = tuple(a.term for a in given.arguments if a.term is not None and a.name is None)
        if len(terms) < len(given.arguments):
            raise self._fault(
                SqlSyntaxError, f"{given.name}() here is a function; it takes values", given.name
            )
        return terms

    def _function(self, given: _Call) -> Term:
        terms = self._values(given)
        try:
            node = function(str(given.name), *terms)
            node.sql(dialect=PostgresViews)  # fails where SQL has no such form, as case(x, y)
        except (SqlglotError, ValueError, IndexError, AttributeError, TypeError) as error:
            raise self._fault(
                UnknownFunction, f"no function {given.name}() of {len(terms)} values", given.name
            ) from error
        if isinstance(node, exp.AggFunc) or key_of(node) in AGGREGATES:
            raise self._fault(
                SqlSyntaxError,
                f"an aggregate is written n = {given.name}(…) : {{ … }}, in a rule's body",
                given.name,
            )
        return placed(node, _start(given.name))

    def _atom(self, given: _Call) -> Atom:
        named = [a.name for a in given.arguments if a.name is not None]
        if named and len(named) < len(given.arguments):
            raise self._fault(
                SqlSyntaxError, "arguments are either all by position or all by name", given.name
            )
        if len(set(named)) < len(named):
            raise self._fault(DuplicateColumn, "a column is named twice", given.name)
        return Atom(str(given.name), given.arguments, _start(given.name))

    def _fault(self, kind: type[SqlError], message: str, token: Token) -> SqlError:
        return self.source.fault_at(kind, message, _start(token))


def _place_of(body: Sequence[Literal]) -> int:
    """Finds the place of the first of some literals."""
    match body[0]:
        case Atom(at=at) | Negation(atom=Atom(at=at)):
            return at
        case Comparison(left=left):
            return start_of(left)


def _start(token: Token) -> int:
    assert token.start_pos is not None
    return token.start_pos


def _unescaped(text: str) -> str:
    """The characters that the inside of a string's quotation marks stands for."""
    out, characters = [], iter(text)
    for c in characters:
        if c == "\\":
            c = next(characters)
            c = _ESCAPES.get(c, c)
        out.append(c)
    return "".join(out)


@cache
def _parser() -> Lark:
    return Lark.open("grammar.lark", rel_to=__file__, parser="lalr", start="program")
