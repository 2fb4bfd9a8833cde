"""The change feed, read from the delta topic."""

import asyncio
import threading
from pathlib import Path

import orjson
from fastapi.concurrency import run_in_threadpool
from fastapi.testclient import TestClient

from api.feed import LINES, Event, Feed
from api.followers import Followers
from api.routes.changes import _events
from api.runtime import Runtime
from api.signals import Signal
from connectors.files.writer import TopicWriter
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order

BYTES = 1 << 20


def events(runtime: Runtime, since: int) -> list[Event]:
    feed = Feed(runtime.topics, "deltas.totals", BYTES)
    end = runtime.sink.published["totals"]
    feed.seek(since, end)
    return list(feed.events(end))


def test_every_time_is_one_event(runtime: Runtime, pipeline: DirectPipeline) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    pipeline.deliver("orders", (order(2, "ada", "2"), 1))
    found = events(runtime, since=0)
    assert [event.time for event in found] == [1, 2]
    assert found[1].reflected == {"offsets": {"orders": {"0": 2}}, "sources": {"orders": {"0": 2}}}
    assert sorted((d["op"], d["row"]["orders"]) for d in found[1].deltas) == [("+", 2), ("-", 1)]


def test_a_feed_goes_on_after_the_time_given(runtime: Runtime, pipeline: DirectPipeline) -> None:
    for number in range(1, 8):
        pipeline.deliver("orders", (order(number, "ada", "1"), 1))
    for since in range(8):
        assert [e.time for e in events(runtime, since)] == list(range(since + 1, 8))


def test_a_feed_that_goes_on_near_the_end_reads_nothing_before(tmp_path: Path) -> None:
    writer = TopicWriter(tmp_path, "deltas.v", segment_bytes=1_000)
    for time in range(1, 1_001):
        writer.append([orjson.dumps({"frontier": time})])
    writer.close()
    segments = sorted((tmp_path / "deltas.v" / "0").iterdir())
    for segment in segments[: len(segments) * 3 // 4]:
        segment.unlink()
    for since in (999, 990, 900):
        feed = Feed(tmp_path, "deltas.v", BYTES)
        feed.seek(since, 1_000)
        assert [event.time for event in feed.events(1_000)] == list(range(since + 1, 1_001))


def test_what_a_snapshot_holds_does_not_come_again_once_it_is_committed(
    runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    committed = runtime.sink.published["totals"]
    feed = Feed(runtime.topics, "deltas.totals", BYTES)
    feed.seek(2, committed)
    for number in (2, 3):
        pipeline.deliver("orders", (order(number, "ada", "1"), 1))
    assert [event.time for event in feed.events(runtime.sink.published["totals"])] == [3]


def test_a_large_time_comes_in_parts_and_only_the_last_has_offsets(
    runtime: Runtime, pipeline: DirectPipeline
) -> None:
    rows = [(order(1, f"c{i}", "1") | {"id": i}, 1) for i in range(LINES + 1)]
    pipeline.deliver("orders", *rows)
    found = events(runtime, since=0)
    assert [len(event.deltas) for event in found] == [LINES, 1]
    assert [event.reflected is None for event in found] == [True, False]


def test_a_time_of_many_bytes_comes_in_parts(runtime: Runtime, pipeline: DirectPipeline) -> None:
    rows = [(order(1, f"{'c' * 1_000}{i}", "1") | {"id": i}, 1) for i in range(50)]
    pipeline.deliver("orders", *rows)
    feed = Feed(runtime.topics, "deltas.totals", 10_000)
    feed.seek(0, runtime.sink.published["totals"])
    found = list(feed.events(runtime.sink.published["totals"]))
    assert sum(len(event.deltas) for event in found) == 50
    assert max(len(event.deltas) for event in found) <= 10
    assert [event.reflected is None for event in found] == [True] * (len(found) - 1) + [False]


def test_a_feed_begins_with_the_snapshot_and_ends_with_the_view(
    client: TestClient, runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    dropping = threading.Timer(0.2, runtime.views.drop, ("totals",))
    dropping.start()
    lines = client.get("/v1/views/totals/changes").text.splitlines()
    dropping.join()
    names = [line.removeprefix("event: ") for line in lines if line.startswith("event: ")]
    data = [orjson.loads(line[6:]) for line in lines if line.startswith("data: ")]
    assert names == ["snapshot", "end"]
    assert data[0] == {
        "time": 1,
        "rows": [{"customer": "ada", "orders": 1, "total": "1.00"}],
        "counts": [1],
    }


def test_a_feed_ends_where_another_view_has_taken_the_name(
    client: TestClient, runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))

    def replace() -> None:
        runtime.views.drop("totals")
        runtime.views.put("totals", "SELECT id FROM orders", "sql", None)
        pipeline.deliver("orders", (order(2, "bob", "1"), 1))

    async def taken_slowly() -> list[bytes]:
        events = _events(runtime, Signal(), Followers(1, 1), "totals", True, None)
        first = await anext(events)
        await run_in_threadpool(replace)
        return [first, *[event async for event in events]]

    snapshot, end = asyncio.run(taken_slowly())
    assert b"event: snapshot" in snapshot
    assert b"event: end" in end


def test_a_topic_of_another_root_is_empty(tmp_path: Path) -> None:
    feed = Feed(tmp_path, "deltas.nothing", BYTES)
    feed.seek(0, 0)
    assert list(feed.events(0)) == []
