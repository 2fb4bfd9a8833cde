"""Nullable columns are added to a source in place: views go on, and so after a restart."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from api.errors import DifferentDefinition, RegistryNotWritten
from api.runtime import Runtime
from api.services.definition import Definition
from connectors.errors import InvalidTable
from connectors.files.writer import TopicWriter
from connectors.tables.spec import TableSpec
from tests.unit.api.filed import pipeline_of, runtime_on, take_checkpoint

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("customer", pa.string(), nullable=False),
    pa.field("amount", pa.int64()),
]
NOTE: pa.Field = pa.field("note", pa.string())
RANK: pa.Field = pa.field("rank", pa.int64())
VIEWS = {
    "everything": ("SELECT * FROM orders", "sql"),
    "totals": ("SELECT customer, count(*) n, sum(amount) total FROM orders GROUP BY 1", "sql"),
    "best": ("SELECT customer FROM totals WHERE total > 5", "sql"),
    "named": ("?- orders(I, C, _).", "datalog"),
    "joined": ("SELECT o.* FROM orders o JOIN orders p USING (id)", "sql"),
}  # fmt: skip


def table(*more: pa.Field, **fields: Any) -> TableSpec:
    return TableSpec("orders", "orders", pa.schema([*FIELDS, *more]), ("id",), **fields)


def write(data: Path, runtime: Runtime, *rows: dict[str, Any], op: str = "c") -> None:
    """Changes of the table, all at one time."""
    image = "before" if op == "d" else "after"
    writer = TopicWriter(data / "topics", "orders")
    writer.append([orjson.dumps({"op": op, image: row}) for row in rows])
    writer.close()
    pipeline_of(runtime).step()


def order(number: int, **more: Any) -> dict[str, Any]:
    return {"id": number, "customer": "ada", "amount": 2 * number, **more}


def rows(runtime: Runtime, name: str) -> list[dict[str, Any]]:
    return sorted(runtime.pool.scan(name).rows.to_pylist(), key=repr)


def deltas(data: Path, view: str) -> list[Any]:
    topic = data / "topics" / f"deltas.{view}" / "0"
    lines = [line for one in sorted(topic.iterdir()) for line in one.read_bytes().splitlines()]
    return [entry for line in lines if "row" in (entry := orjson.loads(line))]


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A service with two orders, whose records have a note already, and views over them."""
    runtime = runtime_on(tmp_path)
    runtime.sources.put(table())
    for name, (query, language) in VIEWS.items():
        runtime.views.put(Definition(name, query, language=language))
    write(tmp_path, runtime, order(1, note="early"), order(2))
    return runtime


def test_rows_from_before_have_null_and_later_ones_what_their_records_say(
    runtime: Runtime, tmp_path: Path
) -> None:
    assert runtime.sources.put(table(NOTE)) is False
    write(tmp_path, runtime, order(3, note="new"), order(4))
    runtime.views.put(Definition("notes", "SELECT id, note FROM orders"))
    found = {row["id"]: row["note"] for row in rows(runtime, "notes")}
    assert found == {1: None, 2: None, 3: "new", 4: None}


def test_views_keep_their_rows_their_columns_and_their_topics(
    runtime: Runtime, tmp_path: Path
) -> None:
    before = {name: (rows(runtime, name), deltas(tmp_path, name)) for name in VIEWS}
    runtime.sources.put(table(NOTE))
    assert {name: (rows(runtime, name), deltas(tmp_path, name)) for name in VIEWS} == before
    write(tmp_path, runtime, order(3, note="new"))
    write(tmp_path, runtime, order(1), op="d")
    assert rows(runtime, "everything") == [order(2), order(3)]
    assert rows(runtime, "totals") == [{"customer": "ada", "n": 2, "total": 10}]
    assert rows(runtime, "best") == [{"customer": "ada"}]
    assert len(rows(runtime, "named")) == 2
    assert rows(runtime, "joined") == [order(2), order(3)]
    changed = deltas(tmp_path, "everything")[len(before["everything"][1]) :]
    assert [(entry["op"], entry["row"]["id"]) for entry in changed] == [("+", 3), ("-", 1)]


@pytest.mark.parametrize("checkpoints", ["none", "before", "after", "both"])
def test_a_restart_comes_to_the_same(runtime: Runtime, tmp_path: Path, checkpoints: str) -> None:
    if checkpoints in ("before", "both"):
        assert take_checkpoint(runtime)
    write(tmp_path, runtime, order(5, note="early"))
    runtime.sources.put(table(NOTE))
    runtime.views.put(Definition("notes", "SELECT id, note FROM orders"))
    write(tmp_path, runtime, order(3, note="new"))
    if checkpoints in ("after", "both"):
        assert take_checkpoint(runtime)
    write(tmp_path, runtime, order(4, note="newer"))
    names = [*VIEWS, "notes"]
    before = {name: (rows(runtime, name), deltas(tmp_path, name)) for name in names}
    again = runtime_on(tmp_path)
    assert again.readiness.fault() is None
    assert {name: (rows(again, name), deltas(tmp_path, name)) for name in names} == before
    assert take_checkpoint(again)
    write(tmp_path, again, order(3), op="d")
    last = runtime_on(tmp_path)
    assert rows(last, "notes") == [
        {"id": 1, "note": None},
        {"id": 2, "note": None},
        {"id": 4, "note": "newer"},
        {"id": 5, "note": None},
    ]


def test_columns_are_added_one_after_another(runtime: Runtime, tmp_path: Path) -> None:
    runtime.sources.put(table(NOTE))
    write(tmp_path, runtime, order(3, note="a", rank=7))
    runtime.views.put(Definition("noted", "SELECT * FROM orders WHERE note IS NOT NULL"))
    runtime.sources.put(table(NOTE, RANK))
    write(tmp_path, runtime, order(4, note="b", rank=8))
    runtime.views.put(Definition("ranks", "SELECT id, rank FROM orders WHERE rank IS NOT NULL"))
    for one in (runtime, runtime_on(tmp_path)):
        assert rows(one, "noted") == [order(3, note="a"), order(4, note="b")]
        assert rows(one, "ranks") == [{"id": 4, "rank": 8}]
        assert len(rows(one, "everything")[0]) == 3


def test_the_same_declaration_again_changes_nothing(runtime: Runtime) -> None:
    runtime.sources.put(table(NOTE))
    time = runtime.pool.frontier
    reordered = pa.schema([NOTE, *FIELDS])
    runtime.sources.put(replace(table(NOTE), schema=reordered))
    runtime.sources.put(table(NOTE))
    assert runtime.pool.frontier == time


def test_records_from_before_are_taken_or_refused_as_they_were(
    runtime: Runtime, tmp_path: Path
) -> None:
    runtime.sources.put(table(on_error="quarantine"))
    bad = {**order(5), "amount": "x"}
    write(tmp_path, runtime, order(3, note=5), order(4, note=["early"]), bad)
    runtime.sources.put(table(NOTE, on_error="quarantine"))
    write(tmp_path, runtime, order(6, note=5), order(7, note="new"))
    for one in (runtime, runtime_on(tmp_path)):
        assert [row["id"] for row in rows(one, "everything")] == [1, 2, 3, 4, 7]
        rejected = {found.record.offset for found in one.quarantine.page(10)}
        assert rejected == {4, 5}


def test_the_unit_that_was_taken_for_granted_may_be_said_later(tmp_path: Path) -> None:
    doubtful = 1_700_000_000_000
    runtime = runtime_on(tmp_path)
    known = table(pa.field("at", pa.timestamp("us")), on_error="quarantine")
    runtime.sources.put(known)
    runtime.views.put(Definition("times", "SELECT id, at FROM orders"))
    write(tmp_path, runtime, order(1, at=doubtful), order(2, at=5))
    with pytest.raises(DifferentDefinition):
        runtime.sources.put(replace(known, encodings={"at": "ms"}))
    assert runtime.sources.put(replace(known, encodings={"at": "us"})) is False
    write(tmp_path, runtime, order(3, at=doubtful))
    for one in (runtime, runtime_on(tmp_path)):
        assert [row["id"] for row in rows(one, "times")] == [2, 3]
        assert one.sources.get("orders").encodings == {"at": "us"}


def test_what_a_bad_record_does_may_change_with_it(runtime: Runtime) -> None:
    runtime.sources.put(table(NOTE, on_error="quarantine"))
    assert runtime.sources.get("orders").on_error == "quarantine"
    assert runtime.sources.get("orders").schema.names[-1] == "note"


@pytest.mark.parametrize(
    ("known", "spec", "error"),
    [
        (table(), table(pa.field("note", pa.string(), nullable=False)), InvalidTable),
        (table(fail_on_missing_field=True), table(NOTE, fail_on_missing_field=True), InvalidTable),
        (table(), table(NOTE, envelope="maxwell"), DifferentDefinition),
        (table(), replace(table(NOTE), topic="others"), DifferentDefinition),
        (
            table(),
            replace(table(), schema=pa.schema([*FIELDS[:2], NOTE.with_name("amount"), RANK])),
            DifferentDefinition,
        ),
        (
            TableSpec("orders", "orders", pa.schema(FIELDS), (), envelope="append", format="csv"),
            TableSpec(
                "orders", "orders", pa.schema([*FIELDS, NOTE]), (), envelope="append", format="csv"
            ),
            InvalidTable,
        ),
    ],
)
def test_other_changes_are_refused(
    tmp_path: Path, known: TableSpec, spec: TableSpec, error: type[Exception]
) -> None:
    runtime = runtime_on(tmp_path)
    runtime.sources.put(known)
    with pytest.raises(error):
        runtime.sources.put(spec)
    assert runtime.sources.get("orders") == known


def test_tables_whose_rows_stay_get_columns_too(tmp_path: Path) -> None:
    runtime = runtime_on(tmp_path)
    more: dict[str, Any] = {"key": (), "envelope": "append"}
    runtime.sources.put(replace(table(), **more))
    writer = TopicWriter(tmp_path / "topics", "orders")
    writer.append([orjson.dumps(order(1)), orjson.dumps(order(1))])
    writer.close()
    pipeline_of(runtime).step()
    runtime.views.put(Definition("ids", "SELECT DISTINCT id FROM orders"))
    runtime.sources.put(replace(table(NOTE), **more))
    assert rows(runtime, "ids") == [{"id": 1}]
    assert runtime.pool.scan("orders").counts.tolist() == [2]


def test_where_the_registry_cannot_be_written_nothing_is_changed(
    runtime: Runtime, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:

        def full(*_: object) -> None:
            raise OSError(28, "No space left on device")

        patch.setattr("api.registry.stage", full)
        with pytest.raises(RegistryNotWritten):
            runtime.sources.put(table(NOTE))
    write(tmp_path, runtime, order(3, note="new"))
    assert runtime.sources.get("orders") == table()
    assert rows(runtime, "everything") == [order(1), order(2), order(3)]
    assert rows(runtime_on(tmp_path), "everything") == rows(runtime, "everything")
