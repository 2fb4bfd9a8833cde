"""The syntax of SEARCH and CYCLE, which follow a recursive query of WITH."""

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.generator import Generator
from sqlglot.tokenizer_core import TokenType


class Search(exp.Expression):
    """`SEARCH {BREADTH | DEPTH} FIRST BY expressions SET this`."""

    arg_types: ClassVar = {"this": True, "expressions": True, "breadth": False}


class Cycle(exp.Expression):
    """`CYCLE expressions SET this [TO value DEFAULT default] USING path`."""

    arg_types: ClassVar = {
        "this": True,
        "expressions": True,
        "path": True,
        "value": False,
        "default": False,
    }


def parse_searches(parser: Any, cte: exp.CTE) -> None:
    """Parses the clauses after a query of WITH, and adds them to it."""
    if parser._match_text_seq("SEARCH"):
        breadth = parser._match_text_seq("BREADTH")
        if not breadth and not parser._match_text_seq("DEPTH"):
            parser.raise_error("Expected BREADTH or DEPTH")
        _expect(parser, "FIRST", "BY")
        columns = parser._parse_csv(parser._parse_id_var)
        _expect(parser, "SET")
        named = parser._parse_id_var()
        search = Search(this=named, expressions=columns, breadth=bool(breadth))
        cte.set("search", parser.expression(search))
    if parser._match_text_seq("CYCLE"):
        columns = parser._parse_csv(parser._parse_id_var)
        _expect(parser, "SET")
        mark, value, default = parser._parse_id_var(), None, None
        if parser._match_text_seq("TO"):
            value = parser._parse_unary()
            if not parser._match(TokenType.DEFAULT):
                parser.raise_error("Expected DEFAULT")
            default = parser._parse_unary()
        _expect(parser, "USING")
        path = parser._parse_id_var()
        cycle = Cycle(this=mark, expressions=columns, path=path, value=value, default=default)
        cte.set("cycle", parser.expression(cycle))


def _expect(parser: Any, *words: str) -> None:
    if not parser._match_text_seq(*words):
        parser.raise_error(f"Expected {' '.join(words)}")


def searches_sql(generator: Generator, cte: exp.CTE) -> str:
    """Writes a query of WITH with the clauses after it."""
    parts = [generator.cte_sql(cte)]
    search, cycle = cte.args.get("search"), cte.args.get("cycle")
    if search is not None:
        order = "BREADTH" if search.args.get("breadth") else "DEPTH"
        columns = generator.expressions(search, flat=True)
        parts.append(f"SEARCH {order} FIRST BY {columns} SET {generator.sql(search, 'this')}")
    if cycle is not None:
        columns, mark = generator.expressions(cycle, flat=True), generator.sql(cycle, "this")
        parts.append(f"CYCLE {columns} SET {mark}")
        if cycle.args.get("value") is not None:
            value, default = generator.sql(cycle, "value"), generator.sql(cycle, "default")
            parts.append(f"TO {value} DEFAULT {default}")
        parts.append(f"USING {generator.sql(cycle, 'path')}")
    return " ".join(parts)
