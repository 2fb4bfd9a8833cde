"""PostgreSQL's grammar as sqlglot has it, with what sqlglot leaves out."""

from sqlglot import exp
from sqlglot.dialects.postgres import Postgres
from sqlglot.helper import seq_get
from sqlglot.parsers.postgres import PostgresParser


class ViewsParser(PostgresParser):
    """Adds row constructors and ALL over a list."""

    FUNCTIONS = PostgresParser.FUNCTIONS | {
        "ROW": lambda args: exp.Tuple(expressions=args),
        "ALL": lambda args: exp.All(this=seq_get(args, 0)),
    }


class PostgresViews(Postgres):
    """The dialect of views."""

    Parser = ViewsParser
