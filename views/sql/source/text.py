"""The parser: reads a query's syntax tree from its text, within the limits on size and nesting.

A fault is reported where its first character stands in the text.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeVar

from sqlglot import exp
from sqlglot.errors import ParseError, TokenError
from sqlglot.tokenizer_core import Token, TokenType

from views.errors import QueryTooLarge, SqlError, SqlSyntaxError, UnsupportedSql
from views.limits import Limits, too_nested
from views.sql.source.dialect import PostgresViews

# VALUES alone is a query, too, though no `exp.Query`.
QUERIES = (exp.Query, exp.Values)

Fault = TypeVar("Fault", bound=SqlError)
_PARTS = {"locks": "FOR UPDATE", "sample": "TABLESAMPLE", "db": "a schema's name"}
_OPENING = {TokenType.L_PAREN, TokenType.L_BRACKET, TokenType.CASE}
_CLOSING = {TokenType.R_PAREN, TokenType.R_BRACKET, TokenType.END}
_NESTING_PREFIX = {TokenType.NOT, TokenType.DASH, TokenType.TILDE}


@dataclass(frozen=True, slots=True)
class Source:
    """Holds a query's text, to give the place of an error in it."""

    text: str

    def fault(self, kind: type[Fault], message: str, node: exp.Expr | None = None) -> Fault:
        """Makes an error of `kind` at the place of `node`."""
        return self.fault_at(kind, message, _start(node))

    def fault_at(self, kind: type[Fault], message: str, offset: int | None) -> Fault:
        """Makes an error of `kind` at the character `offset`, counted from 0."""
        if offset is None:
            return kind(message)
        before = self.text[:offset]
        line = before.count("\n") + 1
        return kind(message, line, offset - before.rfind("\n"), offset + 1)

    def unsupported(
        self, what: str, node: exp.Expr | None = None, instead: str = ""
    ) -> UnsupportedSql:
        """Makes the refusal of a construct that views do not have; `instead` says what to write."""
        advice = f"; {instead}" if instead else ""
        return self.fault(UnsupportedSql, f"{what} is not supported in a view{advice}", node)

    def only(self, node: exp.Expr, allowed: Iterable[str]) -> None:
        """Refuses any part of `node` besides `allowed`, so that nothing is silently ignored."""
        for name, value in node.args.items():
            if value and name not in allowed:
                part = _PARTS.get(name, name.strip("_").replace("_", " ").upper())
                at = value if isinstance(value, exp.Expr) else node
                raise self.unsupported(f"{part} in {describe(node)}", at)


_NAMES: dict[type[exp.Expr], str] = {
    exp.BitwiseAndAgg: "bit_and",
    exp.BitwiseOrAgg: "bit_or",
    exp.BitwiseXorAgg: "bit_xor",
    exp.Explode: "unnest",
    exp.GroupConcat: "string_agg",
    exp.JSONArrayAgg: "json_agg",
    exp.JSONBObjectAgg: "jsonb_object_agg",
    exp.JSONObjectAgg: "json_object_agg",
    exp.LogicalAnd: "bool_and",
    exp.LogicalOr: "bool_or",
    exp.VariancePop: "var_pop",
}


def function_name(node: exp.Func) -> str:
    """Gives PostgreSQL's name of a function."""
    if isinstance(node, exp.Anonymous):
        return node.name.lower()
    return _NAMES.get(type(node)) or node.sql_name().lower()


_SYNTAX: dict[type[exp.Expr], str] = {
    exp.BitString: "a bit string",
    exp.Dot: "a field of a row",
    exp.HexString: "a bit string",
    exp.National: "a text as N'…'",
    exp.Parameter: "a parameter",
    exp.Placeholder: "a parameter",
    exp.UnicodeString: "a text as U&'…'",
}


def describe(node: exp.Expr) -> str:
    """Names a node as SQL does."""
    if isinstance(node, exp.Func):
        return f"{function_name(node)}()"
    return _SYNTAX.get(type(node)) or node.key.upper()


_NO_CHARACTER = re.compile("[\0\ud800-\udfff]")


def check_characters(source: Source) -> None:
    """Checks that the text has no NUL and no half of a surrogate pair (raises SqlSyntaxError)."""
    found = _NO_CHARACTER.search(source.text)
    if found is not None:
        raise source.fault_at(SqlSyntaxError, "this is no character", found.start())


def parse(source: Source, limits: Limits) -> exp.Query | exp.Values:
    """Parses the one query in the text (raises SqlSyntaxError, UnsupportedSql, QueryTooLarge)."""
    check_characters(source)
    dialect = PostgresViews()
    try:
        tokens = dialect.tokenize(source.text)
        if len(tokens) > limits.words:
            raise limits.too_many_words(source.text, tokens[limits.words].start)
        _check_names(source, tokens)
        _check_nesting(source, tokens, limits.nesting)
        statements = dialect.parser().parse(tokens, source.text)
    except ParseError as error:
        raise _syntax_error(source, error, tokens) from error
    except TokenError as error:
        raise source.fault_at(
            SqlSyntaxError, "a quotation or comment is not closed", _unclosed(source.text)
        ) from error
    trees = [tree for tree in statements if tree is not None]
    if not trees:
        raise SqlSyntaxError("the query is empty")
    if len(trees) > 1:
        raise source.unsupported("more than one statement", trees[1])
    tree = trees[0]
    if isinstance(tree, exp.Command) or not isinstance(tree, QUERIES):
        raise source.unsupported(f"{describe(tree)} (a view is one SELECT)", tree)
    _check_depth(source, tree, limits.nesting)
    for identifier in tree.find_all(exp.Identifier):
        if not identifier.quoted:
            identifier.set("this", identifier.name.lower())
    return tree


def _check_names(source: Source, tokens: list[Token]) -> None:
    """Checks that no quoted name is empty (raises SqlSyntaxError)."""
    for token in tokens:
        if token.token_type == TokenType.IDENTIFIER and not token.text:
            raise source.fault_at(SqlSyntaxError, "a quoted name is empty", token.start)


def _syntax_error(source: Source, error: ParseError, tokens: list[Token]) -> SqlSyntaxError:
    detail = error.errors[0] if error.errors else {}
    message = str(detail.get("description") or error)
    line, end = detail.get("line"), detail.get("col")
    start = next((t.start for t in tokens if t.line == line and t.col == end), None)
    if "Token" in message or message.startswith("Required keyword"):
        message = "the query ends or goes on unexpectedly"
    near = detail.get("highlight")
    return source.fault_at(SqlSyntaxError, f"{message} near {near!r}" if near else message, start)


def _unclosed(text: str) -> int | None:
    """Finds the last quotation mark, which has no partner."""
    return max((text.rfind(mark) for mark in ("'", '"', "/*")), default=-1) + 1 or None


def _check_nesting(source: Source, tokens: list[Token], most: int) -> None:
    depth = prefixes = 0
    for token in tokens:
        if token.token_type in _OPENING:
            depth += 1
        elif token.token_type in _CLOSING:
            depth -= 1
        prefixes = prefixes + 1 if token.token_type in _NESTING_PREFIX else 0
        if depth + prefixes > most:
            raise source.fault_at(QueryTooLarge, f"the query is {too_nested(most)}", token.start)


def _check_depth(source: Source, tree: exp.Expr, most: int) -> None:
    """Bound the depth of the tree itself, where a chain of AND, OR or UNION counts once."""
    level: list[exp.Expr] = [tree]
    for _ in range(most):
        level = [below for node in level for below in _operands(node)]
        if not level:
            return
    raise source.fault(QueryTooLarge, f"the query is {too_nested(most)}", level[0])


def _operands(node: exp.Expr) -> list[exp.Expr]:
    if isinstance(node, exp.Connector):
        return list(node.flatten(unnest=False))
    if isinstance(node, exp.SetOperation):
        return list(_branches(node))
    return list(node.iter_expressions())


def _branches(node: exp.Expr) -> Iterator[exp.Expr]:
    """Lists the queries of a chain of UNION, EXCEPT and INTERSECT, the last one first."""
    while isinstance(node, exp.SetOperation):
        yield node.expression
        node = node.this
    yield node


def _start(node: exp.Expr | None) -> int | None:
    """Finds the first character of `node`, or of the node around it where the parser noted none."""
    while node is not None:
        starts = [n.meta["start"] for n in node.walk() if "start" in n.meta]
        if starts:
            return int(min(starts))
        node = node.parent
    return None
