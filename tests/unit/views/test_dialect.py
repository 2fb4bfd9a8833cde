"""Functions are those of PostgreSQL, and the few that views have beside."""

from itertools import product

import pyarrow as pa
import pytest
from sqlglot.parsers.postgres import PostgresParser

from tests.postgres import Judge
from views.catalog import Catalog, Table
from views.compile import compile_view
from views.errors import SqlError
from views.sql.source.function_names import PARSED

OURS = {"any_value", "arg_max", "arg_min", "hop", "max_by", "min_by", "session", "tumble"}
SYNTAX = {
    "all", "any", "array", "case", "cast", "coalesce", "collate", "current_catalog", "current_date",
    "current_time", "current_timestamp", "exists", "greatest", "grouping", "json_objectagg",
    "json_table", "json_value", "least", "localtime", "localtimestamp", "nullif", "row", "some",
    "trim", "xmlelement", "xmltable",
}  # fmt: skip
KNOWN = {n.lower() for n in (*PostgresParser.FUNCTIONS, *PostgresParser.FUNCTION_PARSERS)}
COLUMNS: dict[str, pa.DataType] = {"i": pa.int64(), "s": pa.string(), "d": pa.date32()}
CATALOG = Catalog([Table("t", pa.schema(COLUMNS), ())])
ARGUMENTS = ["", "i", "s", "'a'", *map(", ".join, product("isd", repeat=2)), "s, 'a', i"]


def test_what_is_read_as_syntax_is_in_postgresql_or_ours(judge: Judge) -> None:
    functions = {name for (name,) in judge.execute("SELECT proname FROM pg_proc").fetchall()}
    assert functions | OURS | SYNTAX >= PARSED


@pytest.mark.parametrize("name", sorted(KNOWN - PARSED))
def test_a_function_of_another_dialect_is_refused_or_is_postgresqls(name: str) -> None:
    for arguments in ARGUMENTS:
        try:
            compile_view(f"SELECT {name}({arguments}) AS x FROM t", CATALOG)
        except SqlError:
            continue
