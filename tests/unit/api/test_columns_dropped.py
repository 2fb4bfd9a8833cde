"""Columns of a source that no view reads are dropped in place; others are kept."""

from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pytest

from api.errors import DifferentDefinition
from api.runtime import Runtime
from api.services.definition import Definition
from connectors.errors import InvalidTable
from connectors.tables.spec import TableSpec
from tests.unit.api.filed import runtime_on, take_checkpoint
from tests.unit.api.test_widening import FIELDS, NOTE, RANK, deltas, order, rows, table, write
from views.errors import StillUsed

VIEWS = {
    "ids": "SELECT id FROM orders",
    "inner": "SELECT id, amount FROM (SELECT * FROM orders) o WHERE amount > 0",
    "counts": "SELECT customer, count(*) AS n FROM orders GROUP BY 1",
}
READERS = {
    "SELECT note FROM orders": "sql",
    "SELECT * FROM orders": "sql",
    "SELECT id FROM orders WHERE note = 'x'": "sql",
    "SELECT count(*) AS n FROM (SELECT DISTINCT customer, note FROM orders) o": "sql",
    "SELECT o.id FROM orders o ORDER BY note LIMIT 1": "sql",
    "SELECT a.id FROM orders a JOIN orders b USING (note)": "sql",
    "SELECT customer FROM orders EXCEPT SELECT note FROM orders": "sql",
    "SELECT id, row_number() OVER (ORDER BY note) AS n FROM orders": "sql",
    "?- orders(_, C, _, _).": "datalog",
}


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A service with two orders that have notes, which no view reads."""
    runtime = runtime_on(tmp_path)
    runtime.sources.put(table(NOTE))
    for name, query in VIEWS.items():
        runtime.views.put(Definition(name, query))
    write(tmp_path, runtime, order(1, note="a"), order(2, note="b"))
    return runtime


def test_a_column_that_no_view_reads_is_dropped(runtime: Runtime, tmp_path: Path) -> None:
    before = {name: deltas(tmp_path, name) for name in VIEWS}
    assert runtime.sources.put(table()) is False
    assert {name: deltas(tmp_path, name) for name in VIEWS} == before
    write(tmp_path, runtime, order(3))
    write(tmp_path, runtime, order(1, note="a"), op="d")
    assert [row["id"] for row in rows(runtime, "ids")] == [2, 3]
    assert rows(runtime, "counts") == [{"customer": "ada", "n": 2}]
    runtime.views.put(Definition("all", "SELECT * FROM orders"))
    assert rows(runtime, "all") == [order(2), order(3)]


@pytest.mark.parametrize("query", READERS)
def test_a_column_that_a_view_reads_is_kept_and_the_view_named(
    runtime: Runtime, query: str
) -> None:
    runtime.views.put(Definition("reader", query, language=READERS[query]))
    with pytest.raises((StillUsed, DifferentDefinition), match="'reader'"):
        runtime.sources.put(table())
    assert runtime.sources.get("orders") == table(NOTE)
    runtime.views.drop("reader")
    runtime.sources.put(table())


@pytest.mark.parametrize("checkpoints", ["none", "before", "between", "after"])
def test_a_value_that_was_dropped_does_not_return_with_its_column(
    runtime: Runtime, tmp_path: Path, checkpoints: str
) -> None:
    if checkpoints == "before":
        assert take_checkpoint(runtime)
    runtime.sources.put(table())
    if checkpoints == "between":
        assert take_checkpoint(runtime)
    runtime.sources.put(table(NOTE))
    write(tmp_path, runtime, order(3, note="c"))
    if checkpoints == "after":
        assert take_checkpoint(runtime)
    runtime.views.put(Definition("notes", "SELECT id, note FROM orders"))
    for one in (runtime, runtime_on(tmp_path)):
        assert {row["id"]: row["note"] for row in rows(one, "notes")} == {1: None, 2: None, 3: "c"}
        assert [row["id"] for row in rows(one, "inner")] == [1, 2, 3]


def test_columns_are_added_widened_and_dropped_at_once(runtime: Runtime, tmp_path: Path) -> None:
    runtime.views.put(Definition("before", "SELECT id, amount FROM orders"))
    runtime.sources.put(table(NOTE, RANK))
    fields = [
        *FIELDS[:2],
        pa.field("amount", pa.decimal128(20, 1)),
        RANK,
        pa.field("more", pa.string()),
    ]
    runtime.sources.put(replace(table(), schema=pa.schema(fields)))
    write(tmp_path, runtime, order(3, rank=7, more="x"))
    runtime.views.put(Definition("now", "SELECT * FROM orders"))
    for one in (runtime, runtime_on(tmp_path)):
        assert list(rows(one, "now")[0]) == ["id", "customer", "amount", "rank", "more"]
        assert [(row["rank"], row["more"]) for row in rows(one, "now")] == [
            (None, None), (None, None), (7, "x"),
        ]  # fmt: skip
        assert [float(row["amount"]) for row in rows(one, "before")] == [2, 4, 6]


def test_a_column_of_the_key_is_not_dropped(runtime: Runtime) -> None:
    with pytest.raises((DifferentDefinition, InvalidTable)):
        runtime.sources.put(replace(table(NOTE), schema=pa.schema([*FIELDS[1:], NOTE])))


def test_lines_that_hold_columns_in_order_lose_none(tmp_path: Path) -> None:
    runtime = runtime_on(tmp_path)
    given = TableSpec("t", "t", pa.schema(FIELDS), (), envelope="append", format="csv")
    runtime.sources.put(given)
    with pytest.raises(InvalidTable, match="in order"):
        runtime.sources.put(replace(given, schema=pa.schema(FIELDS[:2])))
