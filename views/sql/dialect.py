"""PostgreSQL's grammar as sqlglot has it, with what sqlglot leaves out and without what it changes.

sqlglot turns the functions that it knows into classes of syntax, some with other arguments than
were written. The functions of `PLAIN` are left as they are written, for `views.sql.named`.
"""

from typing import Any

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.helper import seq_get
from sqlglot.parsers.postgres import PostgresParser
from sqlglot.tokenizer_core import TokenType

PLAIN = frozenset({
    "acos", "acosh", "array_append", "array_cat", "array_length", "array_position",
    "array_prepend", "array_remove", "array_to_string", "ascii", "asin", "asinh", "atan", "atan2",
    "atanh", "bit_length", "btrim", "cbrt", "char_length", "character_length", "chr", "concat_ws",
    "cos", "cosh", "cot", "date_bin", "decode", "degrees", "div", "encode", "exp", "factorial",
    "format", "initcap", "justify_days", "justify_hours", "justify_interval", "left", "length",
    "ln", "log", "log10", "lpad", "ltrim", "make_date", "make_interval", "make_time",
    "make_timestamp", "md5", "mod", "octet_length", "pi", "pow", "power", "radians",
    "regexp_count", "regexp_like", "regexp_replace", "regexp_substr", "repeat", "reverse",
    "right", "rpad", "rtrim", "sha256", "sign", "sin", "sinh", "sqrt", "string_to_array", "tan",
    "tanh", "to_char", "to_date", "to_hex", "to_timestamp", "translate", "trunc", "width_bucket",
})  # fmt: skip


def _translated(parsers: dict[str, Any]) -> dict[str, Any]:
    return {name: parser for name, parser in parsers.items() if name.lower() not in PLAIN}


class ViewsParser(PostgresParser):
    """Adds row constructors, ALL over a list, JOIN … USING (…) AS alias, whole interval texts."""

    FUNCTIONS = _translated(PostgresParser.FUNCTIONS) | {
        "ROW": lambda args: exp.Tuple(expressions=args),
        "ALL": lambda args: exp.All(this=seq_get(args, 0)),
    }
    FUNCTION_PARSERS = _translated(PostgresParser.FUNCTION_PARSERS)

    def _parse_join(self, *args: Any, **kwargs: Any) -> exp.Join | None:
        join = super()._parse_join(*args, **kwargs)
        if join is not None and join.args.get("using") and self._match(TokenType.ALIAS):
            join.set("alias", self._parse_id_var())
        return join

    def _parse_interval_span(
        self, this: exp.Expr, parse_function_unit: bool = True
    ) -> exp.Interval:
        interval = super()._parse_interval_span(this, parse_function_unit)
        if this.is_string:
            if exp.INTERVAL_STRING_RE.findall(this.name):
                interval.set("unit", None)
            interval.set("this", this)
        return interval


class PostgresViews(Postgres):
    """The dialect of views. Subscripts of arrays stay counted from 1."""

    INDEX_OFFSET = 0
    Parser = ViewsParser
