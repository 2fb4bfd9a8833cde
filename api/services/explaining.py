"""EXPLAIN and EXPLAIN ANALYZE: the plan of a query as the rows of an answer, as in PostgreSQL."""

from dataclasses import asdict

import orjson
import pyarrow as pa

from api.plan_tree import tree_text
from ivm.results import Operators
from views.sql.source.explain import PlanFormat

SCHEMA = pa.schema([pa.field("QUERY PLAN", pa.string(), nullable=False)])


def plan_rows(lines: list[str]) -> pa.RecordBatch:
    """The lines of a plan, a row for each."""
    return pa.record_batch([pa.array(lines, pa.string())], schema=SCHEMA)


def analyzed(found: Operators, form: PlanFormat, planning: float, execution: float) -> list[str]:
    """The plan that a query was answered by, with what each operator did, and both times."""
    document = asdict(found)
    if form == "json":
        times = {"planning_seconds": planning, "execution_seconds": execution}
        return [orjson.dumps(document | times).decode()]
    return [
        *tree_text(document),
        f"Planning Time: {planning * 1000:.3f} ms",
        f"Execution Time: {execution * 1000:.3f} ms",
    ]
