"""The change feed, read from the delta topic."""

import asyncio
from dataclasses import replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from fastapi.concurrency import run_in_threadpool
from fastapi.testclient import TestClient

from api.feed import LINES, Event, Feed
from api.feed_forms import ARROW, ArrowBatches, ServerSentEvents
from api.followers import Followers
from api.routes.changes import Wanted, _events
from api.runtime import Runtime
from api.services.definition import Definition
from api.signals import Signal
from connectors.files.writer import TopicWriter
from tests.unit.api.conftest import TOTALS
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.feeds import followed
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


def test_a_time_without_a_line_is_told_once_it_is_complete(
    runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    feed = Feed(runtime.topics, "deltas.totals", BYTES)
    feed.seek(0, runtime.sink.published["totals"])
    complete = runtime.sink.complete
    assert complete is not None
    later = replace(complete, time=complete.time + 2)
    assert [event.time for event in feed.events(runtime.sink.published["totals"])] == [1]
    assert list(feed.progress(complete)) == []
    assert list(feed.progress(later)) == [Event(3, [], complete.offsets.told())]
    assert list(feed.progress(later)) == []


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
    drop = partial(runtime.views.drop, "totals")
    found = sent(followed(client, "/v1/views/totals/changes", drop).text)
    assert [name for name, _ in found] == ["snapshot", "end"]
    assert found[0][1] == {
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
        runtime.views.put(Definition("totals", "SELECT id FROM orders"))
        pipeline.deliver("orders", (order(2, "bob", "1"), 1))

    async def taken_slowly() -> list[bytes]:
        wanted = Wanted("totals", True, None, ServerSentEvents())
        events = _events(runtime, Signal(), Followers(1, 1), wanted)
        first = await anext(events)
        await run_in_threadpool(replace)
        return [first, *[event async for event in events]]

    snapshot, end = asyncio.run(taken_slowly())
    assert b"event: snapshot" in snapshot
    assert b"event: end" in end


def test_a_feed_goes_on_where_the_view_is_replaced(
    runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1), (order(2, "ada", "1"), 1))
    query = TOTALS["query"].replace("GROUP", "WHERE id > 1 GROUP")

    def replace() -> None:
        waiting = runtime.replacements.put(Definition("totals", query))
        assert waiting is not None
        assert waiting.ended.wait(10)
        runtime.replacements.approve("totals", waiting.pending.version, None)
        pipeline.deliver("orders", (order(3, "bob", "1"), 1))

    async def taken() -> list[bytes]:
        wanted = Wanted("totals", True, None, ServerSentEvents())
        events = _events(runtime, Signal(), Followers(1, 1), wanted)
        first = await anext(events)
        await run_in_threadpool(replace)
        return [first, await anext(events), await anext(events)]

    snapshot, replaced, later = asyncio.run(taken())
    assert b"event: snapshot" in snapshot
    assert replaced.count(b'"orders":1') == replaced.count(b'"orders":2') == 1
    assert b'"customer":"bob"' in later


def test_a_topic_of_another_root_is_empty(tmp_path: Path) -> None:
    feed = Feed(tmp_path, "deltas.nothing", BYTES)
    feed.seek(0, 0)
    assert list(feed.events(0)) == []


def sent(text: str) -> list[tuple[str, Any]]:
    """The names and data of events."""
    events = [event for event in text.split("\r\n\r\n") if event]
    parts = [dict(line.split(": ", 1) for line in event.splitlines()) for event in events]
    return [(part["event"], orjson.loads(part["data"])) for part in parts]


def test_a_feed_of_values_has_the_rows_with_them_alone(
    client: TestClient, runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1), (order(2, "bob", "1"), 1))
    pipeline.deliver("orders", (order(3, "bob", "1"), 1))
    pipeline.deliver("orders", (order(4, "ada", "1"), 1))
    path = "/v1/views/totals/changes?since=1&customer=bob"
    found = sent(followed(client, path, partial(runtime.views.drop, "totals")).text)
    assert [name for name, _ in found] == ["changes", "changes", "end"]
    assert [delta["row"]["customer"] for delta in found[0][1]["deltas"]] == ["bob", "bob"]
    assert (found[1][1]["time"], found[1][1]["deltas"]) == (3, [])


def test_a_feed_goes_on_under_the_new_name_of_its_view(
    client: TestClient, runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))

    async def through_both_names() -> bytes:
        wanted = Wanted("totals", False, 0, ServerSentEvents())
        published = Signal()
        runtime.applier.listen(published.notify)
        events = _events(runtime, published, Followers(1, 1), wanted)
        found = await anext(events)
        await run_in_threadpool(runtime.views.rename, "totals", "spent")
        ids = Definition("totals", "SELECT id FROM orders")
        await run_in_threadpool(runtime.views.put, ids)
        await run_in_threadpool(pipeline.deliver, "orders", (order(2, "ada", "1"), 1))
        found += await anext(events) + await anext(events)
        await run_in_threadpool(runtime.views.drop, "spent")
        return found + b"".join([event async for event in events])

    found = sent(asyncio.run(through_both_names()).decode())
    assert [name for name, _ in found] == ["changes", "renamed", "changes", "end"]
    assert found[1][1] == {"view": "spent"}
    assert [delta["row"]["orders"] for delta in found[2][1]["deltas"]] == [1, 2]


def test_a_feed_of_a_column_that_is_not_there_is_refused(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    refused = client.get("/v1/views/totals/changes?customr=bob")
    assert (refused.status_code, refused.json()["code"]) == (400, "bad-parameter")


def test_a_feed_comes_as_arrow_batches(
    client: TestClient, runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    found = followed(
        client,
        "/v1/views/totals/changes",
        partial(pipeline.deliver, "orders", (order(2, "ada", "2"), 1)),
        partial(runtime.views.drop, "totals"),
        accept=ARROW,
    )
    assert found.headers["content-type"] == ARROW
    rows = pa.ipc.open_stream(found.content).read_all().to_pylist()
    told = [
        (r["ivm_time"], r["ivm_diff"], r["ivm_progressed"], r["customer"], r["total"]) for r in rows
    ]
    assert told[:2] == [(1, 1, False, "ada", Decimal("1.00")), (1, 0, True, None, None)]
    assert sorted(told[2:4]) == [
        (2, -1, False, "ada", Decimal("1.00")),
        (2, 1, False, "ada", Decimal("3.00")),
    ]
    assert told[4:] == [(2, 0, True, None, None)]


def test_a_heartbeat_of_arrow_is_a_batch_without_rows() -> None:
    form = ArrowBatches(pa.schema([("n", pa.int64())]))
    stream = form.begin() + form.heartbeat() + form.end("")
    assert [batch.num_rows for batch in pa.ipc.open_stream(stream)] == [0]


def test_a_follower_who_comes_back_after_retention_is_told_to_begin_anew(
    client: TestClient, runtime: Runtime, pipeline: DirectPipeline
) -> None:
    for number in range(1, 4):
        pipeline.deliver("orders", (order(number, "ada", "1"), 1))
    directory = runtime.topics / "deltas.totals" / "0"
    first = next(directory.iterdir())
    lines = first.read_bytes().splitlines(keepends=True)
    kept = next(i for i, line in enumerate(lines) if orjson.loads(line).get("time") == 3)
    (directory / f"{kept:020d}.jsonl").write_bytes(b"".join(lines[kept:]))
    first.unlink()
    answer = client.get("/v1/views/totals/changes?since=2")
    assert (answer.status_code, answer.json()["code"]) == (410, "changes-gone")
    assert answer.json()["detail"] == (
        "the changes after time 2 are not kept any more: they begin after time 3; begin anew with "
        "a snapshot"
    )
