"""The grammar of time windows: TUMBLE, HOP and SESSION in FROM, and the frame SESSION WITH GAP.

The table comes first, with Flink's word TABLE or without, and its PARTITION BY; then the column of
time, in DESCRIPTOR or not, and the lengths.
"""

from typing import Any, ClassVar

from sqlglot import exp
from sqlglot.generator import Generator
from sqlglot.tokenizer_core import TokenType

KINDS = ("TUMBLE", "HOP", "SESSION")


class TimeWindow(exp.Expression, exp.Func):
    """`kind(this PARTITION BY partition_by, time, lengths…)` in FROM."""

    arg_types: ClassVar = {
        "this": True,
        "kind": True,
        "partition_by": False,
        "time": True,
        "expressions": False,
    }
    is_var_len_args = True


class SessionFrame(exp.WindowSpec):
    """`SESSION WITH GAP gap`: the rows of the row's session."""

    arg_types: ClassVar = {"gap": True}


def parse_time_window(parser: Any, kind: str) -> exp.Expr:
    """Parses what stands in the parentheses of `kind(…)`."""
    parser._match(TokenType.TABLE)
    in_parentheses = parser._match(TokenType.L_PAREN, advance=False)
    relation = parser._parse_table() if in_parentheses else parser._parse_table_parts()
    keys: list[exp.Expr] = []
    if parser._match(TokenType.PARTITION_BY):
        wrapped = parser._match(TokenType.L_PAREN, advance=False)
        key = parser._parse_disjunction
        keys = parser._parse_wrapped_csv(key) if wrapped else [key()]
    if not parser._match(TokenType.COMMA):
        parser.raise_error(f"{kind} takes a table, its column of time, and lengths of time")
    time, *lengths = parser._parse_csv(parser._parse_disjunction)
    if isinstance(time, exp.Anonymous) and time.name.upper() == "DESCRIPTOR":
        time = time.expressions[0] if len(time.expressions) == 1 else time
    node = TimeWindow(this=relation, kind=kind, partition_by=keys, time=time, expressions=lengths)
    return parser.expression(node)  # type: ignore[no-any-return]


def parse_session_frame(parser: Any) -> SessionFrame | None:
    """Parses `SESSION WITH GAP gap`, if it stands here."""
    if not parser._match_text_seq("SESSION", "WITH", "GAP"):
        return None
    return SessionFrame(gap=parser._parse_bitwise())


def write_time_window(generator: Generator, node: TimeWindow) -> str:
    """Writes a time window as it is parsed."""
    keys = generator.expressions(node, key="partition_by", flat=True)
    by = f" PARTITION BY ({keys})" if keys else ""
    parts = [generator.sql(node, "time"), generator.expressions(node, flat=True)]
    return f"{node.args['kind']}({generator.sql(node, 'this')}{by}, {', '.join(parts)})"


def write_session_frame(generator: Generator, node: SessionFrame) -> str:
    """Writes the frame as it is parsed."""
    return f"SESSION WITH GAP {generator.sql(node, 'gap')}"
