"""A restart goes on from the newest checkpoint, and is told from none by nothing but its speed."""

from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from api.services.definition import Definition
from connectors.files.layout import bases, partition_directory, segment_path
from connectors.files.writer import TopicWriter
from connectors.tables.spec import TableSpec
from tests.unit.api.filed import make_runtime, pipeline_of, runtime_on, take_checkpoint, write_rows
from tests.unit.connectors.records import record

pytestmark = pytest.mark.usefixtures("engine")

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("customer", pa.string(), nullable=False),
    pa.field("amount", pa.int64()),
]
ORDERS = TableSpec("orders", "orders", pa.schema(FIELDS), ("id",), replica_identity="full")
TOTALS = "SELECT customer, count(*) AS orders, sum(amount) AS total FROM orders GROUP BY customer"


def order(number: int, customer: str = "ada", amount: int = 1) -> dict[str, Any]:
    return {"id": number, "customer": customer, "amount": amount}


def lines(data: Path, view: str = "totals") -> list[dict[str, Any]]:
    topic = data / "topics" / f"deltas.{view}" / "0"
    return [
        orjson.loads(line)
        for segment in sorted(topic.iterdir())
        for line in segment.read_bytes().splitlines()
    ]


def rows(runtime: Runtime, view: str = "totals") -> list[dict[str, Any]]:
    return sorted(runtime.pool.scan(view).rows.to_pylist(), key=repr)


def folded(data: Path, view: str = "totals") -> tuple[dict[tuple[Any, ...], int], list[int]]:
    """What the deltas of a view add up to, and its frontiers."""
    counts: Counter[tuple[Any, ...]] = Counter()
    frontiers = []
    for line in lines(data, view):
        if "row" in line:
            counts[tuple(line["row"].values())] += line["diff"]
        else:
            frontiers.append(line["frontier"])
    return {row: n for row, n in counts.items() if n}, frontiers


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A service with a table, a view, and three times."""
    runtime = runtime_on(tmp_path)
    runtime.sources.put(ORDERS)
    runtime.views.put(Definition("totals", TOTALS))
    for number in (1, 2, 3):
        write_rows(tmp_path, "orders", (order(number), 1), (order(number + 10, "bob"), 1))
        pipeline_of(runtime).step()
    return runtime


def test_only_what_lies_beyond_the_checkpoint_is_replayed(runtime: Runtime, tmp_path: Path) -> None:
    assert take_checkpoint(runtime)
    write_rows(tmp_path, "orders", (order(1), -1))
    pipeline_of(runtime).step()
    before, published = rows(runtime), lines(tmp_path)
    again = runtime_on(tmp_path)
    assert again.readiness.fault() is None
    assert pipeline_of(again).replayed == 1
    assert rows(again) == before
    assert lines(tmp_path) == published
    write_rows(tmp_path, "orders", (order(2), -1))
    pipeline_of(again).step()
    assert [(e["op"], e["time"]) for e in lines(tmp_path)[len(published) : -1]] == [
        ("-", 5),
        ("+", 5),
    ]


@pytest.mark.parametrize("checkpoints", [True, False])
def test_a_service_that_is_told_to_end_leaves_nothing_to_replay(
    tmp_path: Path, checkpoints: bool
) -> None:
    runtime = make_runtime(tmp_path)
    with TestClient(create_app(runtime, checkpoints_at_end=checkpoints)):
        runtime.readiness.wait()
        runtime.sources.put(ORDERS)
        runtime.views.put(Definition("totals", TOTALS))
        write_rows(tmp_path, "orders", (order(1), 1))
        pipeline_of(runtime).step()
        before = rows(runtime)
    again = runtime_on(tmp_path)
    assert pipeline_of(again).replayed == (0 if checkpoints else 1)
    assert rows(again) == before


def test_a_service_that_ends_amid_its_start_takes_no_checkpoint(tmp_path: Path) -> None:
    runtime = make_runtime(tmp_path)
    runtime.stop(checkpoints=True)
    assert runtime.checkpoints.counts.written == 0


def test_records_that_a_checkpoint_holds_are_not_read_again(tmp_path: Path) -> None:
    runtime = runtime_on(tmp_path)
    runtime.sources.put(ORDERS)
    runtime.views.put(Definition("totals", TOTALS))
    for number in range(4):
        writer = TopicWriter(tmp_path / "topics", "orders", segment_bytes=1)
        writer.append([record("c", after=order(number))])
        writer.close()
        pipeline_of(runtime).step()
        take_checkpoint(runtime)
    before = rows(runtime)
    directory = partition_directory(tmp_path / "topics", "orders", 0)
    for base in bases(directory)[:2]:
        segment_path(directory, base).unlink()
    again = runtime_on(tmp_path)
    assert again.readiness.fault() is None
    assert rows(again) == before


def test_offsets_and_times_go_on(runtime: Runtime, tmp_path: Path) -> None:
    take_checkpoint(runtime)
    again = runtime_on(tmp_path)
    assert again.applier.offsets().by_source() == {"orders": {0: 6}}
    assert again.pool.frontier == 4
    assert again.pipeline.status().time == 3


def test_nothing_is_written_where_nothing_has_happened(runtime: Runtime, tmp_path: Path) -> None:
    assert take_checkpoint(runtime)
    assert not take_checkpoint(runtime)
    again = runtime_on(tmp_path)
    assert not take_checkpoint(again)
    assert again.checkpoints.counts.failures == 0


def test_the_journal_forgets_what_the_oldest_of_two_checkpoints_holds(
    runtime: Runtime, tmp_path: Path
) -> None:
    bases = []
    for number in (4, 5, 6):
        take_checkpoint(runtime)
        bases.append(runtime.journal.base)
        write_rows(tmp_path, "orders", (order(number), 1))
        pipeline_of(runtime).step()
    assert bases == [0, 3, 4]
    assert rows(runtime_on(tmp_path)) == rows(runtime)


def test_a_view_and_a_table_made_after_the_checkpoint_are_there(
    runtime: Runtime, tmp_path: Path
) -> None:
    take_checkpoint(runtime)
    others = TableSpec("others", "others", ORDERS.schema, ("id",), replica_identity="full")
    runtime.sources.put(others)
    runtime.views.put(Definition("both", "SELECT id FROM orders UNION ALL SELECT id FROM others"))
    write_rows(tmp_path, "others", (order(7), 1))
    pipeline_of(runtime).step()
    before, published = rows(runtime, "both"), lines(tmp_path, "both")
    again = runtime_on(tmp_path)
    assert rows(again, "both") == before
    assert lines(tmp_path, "both") == published


def test_a_table_dropped_after_the_checkpoint_does_not_come_back(
    runtime: Runtime, tmp_path: Path
) -> None:
    take_checkpoint(runtime)
    runtime.views.drop("totals")
    runtime.sources.drop("orders")
    again = runtime_on(tmp_path)
    assert again.readiness.fault() is None
    assert again.applier.offsets().by_source() == {}
    again.sources.put(ORDERS)
    pipeline_of(again).step()
    assert again.pool.scan("orders").rows.num_rows == 6


@pytest.mark.parametrize("is_read", [True, False])
def test_a_table_declared_anew_after_the_checkpoint_has_its_new_rows_only(
    runtime: Runtime, tmp_path: Path, is_read: bool
) -> None:
    take_checkpoint(runtime)
    runtime.views.drop("totals")
    runtime.sources.drop("orders")
    runtime.sources.put(ORDERS)
    if is_read:
        pipeline_of(runtime).step(2)
    again = runtime_on(tmp_path)
    assert again.readiness.faults() == []
    assert again.pool.scan("orders").rows.num_rows == (2 if is_read else 0)


def test_what_was_restored_is_not_written_again(runtime: Runtime, tmp_path: Path) -> None:
    many = [(order(n), 1) for n in range(100, 20_100)]
    write_rows(tmp_path, "orders", *many)
    pipeline_of(runtime).step(len(many))
    take_checkpoint(runtime)
    first = runtime.checkpoints.counts.bytes
    again = runtime_on(tmp_path)
    write_rows(tmp_path, "orders", (order(4), 1))
    pipeline_of(again).step()
    assert take_checkpoint(again)
    assert 0 < again.checkpoints.counts.bytes < first / 10
    assert rows(runtime_on(tmp_path)) == rows(again)


def test_the_clock_shows_what_it_showed(runtime: Runtime, tmp_path: Path) -> None:
    pipeline_of(runtime).tick()
    take_checkpoint(runtime)
    again = runtime_on(tmp_path)
    assert again.applier.clock.moment == runtime.applier.clock.moment
    assert again.pool.frontier == runtime.pool.frontier
