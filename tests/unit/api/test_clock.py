"""Views that filter by now(): time passes for them, and is replayed as it passed."""

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import orjson
from fastapi.testclient import TestClient

from api.app import create_app
from tests.unit.api.conftest import ORDERS, make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order

DAY = 86_400_000_000
NEW_YEAR_2024 = 19_723 * DAY
RECENT = {"query": "SELECT id FROM orders WHERE day > now() - interval '10 days'", "key": ["id"]}


def deltas(data: Path) -> list[tuple[str, int, int]]:
    """Operation, time and id of each delta of the view."""
    topic = data / "topics" / "deltas.recent" / "0" / f"{0:020d}.jsonl"
    lines = [orjson.loads(line) for line in topic.read_bytes().splitlines()]
    return [(line["op"], line["time"], line["row"]["id"]) for line in lines if "op" in line]


def shown(client: TestClient) -> list[int]:
    rows: list[dict[str, Any]] = client.get("/v1/views/recent/rows?scan=true").json()["rows"]
    return sorted(row["id"] for row in rows)


def test_rows_leave_a_view_and_its_topic_as_time_passes(
    pipeline: DirectPipeline, client: TestClient, tmp_path: Path
) -> None:
    pipeline.moment = NEW_YEAR_2024
    assert client.put("/v1/views/recent", json=RECENT).status_code == 201
    batch = pipeline.deliver("orders", (order(1, "ada", "1"), 1), (order(5, "ada", "1"), 1))
    assert shown(client) == [1, 5]
    pipeline.moment += 12 * DAY
    pipeline.tick()
    assert shown(client) == [5]
    before = deltas(tmp_path)
    assert [(op, number) for op, _, number in before] == [("+", 1), ("+", 5), ("-", 1)]

    again = make_runtime(tmp_path)
    again.restore()
    again.applier.receive(replace(batch, committed=True))
    again.applier.complete_replay()
    assert again.pool.scan("recent").rows.to_pylist() == [{"id": 5}]
    later = cast(DirectPipeline, cast(Any, again.pipeline))
    later.moment = NEW_YEAR_2024 + 20 * DAY
    later.tick()
    assert [(op, number) for op, _, number in deltas(tmp_path)[len(before) :]] == [("-", 5)]


def test_a_tick_is_published_once_though_a_crash_cut_the_time_after_it_short(
    pipeline: DirectPipeline, client: TestClient, tmp_path: Path
) -> None:
    pipeline.moment = NEW_YEAR_2024
    assert client.put("/v1/views/recent", json=RECENT).status_code == 201
    first = pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    pipeline.moment += 12 * DAY
    pipeline.tick()
    before = deltas(tmp_path)
    assert [(op, number) for op, _, number in before] == [("+", 1), ("-", 1)]

    again = make_runtime(tmp_path)
    again.restore()
    time = again.journal.last_time + 1
    (ranges,) = first.ranges
    later = replace(ranges, first=ranges.end, end=ranges.end + 1)
    again.journal.prepare(time, (later,), pipeline.moment + DAY)
    again.applier.receive(replace(first, committed=True))
    again.applier.receive(
        replace(first, time=time, ranges=(later,), tables={}, moment=pipeline.moment + DAY)
    )
    assert deltas(tmp_path) == before


def test_the_clock_ticks_by_itself_while_a_view_reads_it(tmp_path: Path) -> None:
    runtime = make_runtime(tmp_path, clock_seconds=0.01)
    pipeline = cast(DirectPipeline, cast(Any, runtime.pipeline))
    with TestClient(create_app(runtime)) as client:
        assert client.put("/v1/sources/orders", json=ORDERS).status_code == 201
        assert client.put("/v1/views/recent", json=RECENT).status_code == 201
        for _ in range(3):
            assert pipeline.ticks.acquire(timeout=10)
