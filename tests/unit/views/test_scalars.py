"""Scalar expressions, a file of them for each topic, are what PostgreSQL says.

A line of a file is an expression over the columns of `SAMPLES`. Values are compared as texts; where
PostgreSQL raises an error, the row is an error, or the view is refused for its constant.
"""

from pathlib import Path

import psycopg
import pyarrow as pa
import pytest

from ivm.dataflow import nodes as df
from ivm.expressions.program import evaluate
from tests.postgres import Judge, emptied
from views.catalog import Catalog, Table
from views.compile import compile_view
from views.errors import InvalidLiteral

TOPICS = sorted((Path(__file__).parent / "scalars").glob("*.txt"))
ERROR = "ERROR"
SAMPLES = Table("one", pa.schema([pa.field("id", pa.int64(), False)]), ("id",))
ROW = pa.RecordBatch.from_pydict({"id": [1]}, schema=SAMPLES.schema)


def ours(expression: str) -> str | None:
    """What a view computes."""
    query = f"SELECT CAST({expression} AS text) AS x FROM one"
    try:
        node = compile_view(query, Catalog([SAMPLES])).node
    except InvalidLiteral:
        return ERROR
    assert isinstance(node, df.Map)
    result, errors = evaluate(SAMPLES.schema, [], node.outputs, ROW)
    value: str | None = ERROR if errors else result["x"][0].as_py()
    return value


def theirs(expression: str, judge: Judge) -> str | None:
    """What PostgreSQL says."""
    query = f"SELECT CAST({expression} AS text) FROM one"
    try:
        value = judge.execute(query.encode()).fetchall()[0][0]
    except psycopg.Error:
        return ERROR
    return None if value is None else str(value)


@pytest.mark.parametrize("path", TOPICS, ids=lambda path: path.stem)
def test_expressions_are_what_postgresql_says(path: Path, judge: Judge) -> None:
    emptied(judge).execute("CREATE TABLE one (id bigint); INSERT INTO one VALUES (1)")
    expressions = path.read_text().splitlines()
    answers = [(e, ours(e)) for e in expressions]
    assert answers == [(e, theirs(e, judge)) for e in expressions]
