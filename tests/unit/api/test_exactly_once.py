"""What the applier publishes, and that a replay publishes nothing twice."""

import errno
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient

from api.errors import ViewFailed
from api.runtime import Runtime
from api.services.definition import Definition
from connectors.progress.batches import TimedBatch
from tests.unit.api.conftest import make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.feeds import followed
from tests.unit.api.orders import order


def lines(data: Path) -> list[dict[str, Any]]:
    topic = data / "topics" / "deltas.totals" / "0" / f"{0:020d}.jsonl"
    return [orjson.loads(line) for line in topic.read_bytes().splitlines()]


def replayed(batch: TimedBatch, *, committed: bool) -> TimedBatch:
    return replace(batch, committed=committed)


def started_again(data: Path) -> Runtime:
    runtime = make_runtime(data)
    runtime.start()
    assert runtime.readiness.fault() is None
    return runtime


def before_replay(data: Path) -> Runtime:
    """A runtime that is started again, as it is when the replay begins."""
    runtime = make_runtime(data)
    runtime.restore()
    return runtime


def test_no_view_is_made_once_a_time_was_published_in_part(
    client: TestClient, pipeline: DirectPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("connectors.sinks.deltas.DeltaSink.write", _full_disk)
        with pytest.raises(OSError, match="No space"):
            pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    refused = client.put("/v1/views/more", json={"query": "SELECT id FROM orders"})
    assert (refused.status_code, refused.json()["code"]) == (503, "pipeline-failed")
    assert "time 1 could not be published" in refused.json()["detail"]


def _full_disk(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_each_time_ends_with_its_frontier(pipeline: DirectPipeline, tmp_path: Path) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    snapshot, delta, frontier = lines(tmp_path)
    assert snapshot == {"frontier": 0, "offsets": {}, "sources": {"orders": {}}}
    assert (delta["op"], delta["diff"], delta["time"]) == ("+", 1, 1)
    assert frontier == {
        "frontier": 1,
        "offsets": {"orders": {"0": 1}},
        "sources": {"orders": {"0": 1}},
    }


def test_a_committed_time_is_applied_but_not_published_again(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    batch = pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    before = lines(tmp_path)
    again = before_replay(tmp_path)
    again.applier.receive(replayed(batch, committed=True))
    assert lines(tmp_path) == before
    assert again.pool.scan("totals").rows.num_rows == 1


def test_replayed_times_are_completed_together(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    batches = [pipeline.deliver("orders", (order(i, "ada", "1"), 1)) for i in (1, 2, 3)]
    before = lines(tmp_path)
    again = before_replay(tmp_path)
    frontiers = []
    for batch in batches:
        again.applier.receive(replayed(batch, committed=True))
        frontiers.append(again.pool.frontier)
    assert frontiers == [1, 1, batches[-1].time + 1]
    assert lines(tmp_path) == before
    assert again.pool.scan("totals").rows.to_pylist()[0]["orders"] == 3


def test_a_replay_that_ends_early_is_completed(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    batches = [pipeline.deliver("orders", (order(i, "ada", "1"), 1)) for i in (1, 2)]
    again = before_replay(tmp_path)
    again.applier.receive(replayed(batches[0], committed=True))
    again.applier.complete_replay()
    assert again.pool.scan("totals").rows.num_rows == 1
    assert again.applier.offsets().by_source() == {"orders": {0: 1}}


def test_new_deltas_do_not_carry_those_of_a_replay_that_ended_early(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    batches = [pipeline.deliver("orders", (order(i, "ada", "1"), 1)) for i in (1, 2)]
    before = lines(tmp_path)
    again = before_replay(tmp_path)
    again.applier.receive(replayed(batches[0], committed=True))
    third = replace(batches[0], time=3, committed=False, tables={})
    again.journal.prepare(3, (), 0)
    again.applier.receive(third)
    assert lines(tmp_path)[len(before) :] == [
        {"frontier": 3, "offsets": {"orders": {"0": 1}}, "sources": {"orders": {"0": 1}}},
    ]


def test_what_was_written_but_not_committed_is_published_once(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    first = pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    topic = tmp_path / "topics" / "deltas.totals" / "0" / f"{0:020d}.jsonl"
    before = lines(tmp_path)
    with topic.open("ab") as torn:
        torn.write(b'{"op":"+","diff":1,"time":2,"row":{}}\n{"op":')
    again = before_replay(tmp_path)
    again.applier.receive(replayed(first, committed=True))
    assert lines(tmp_path) == before


def test_a_view_made_later_begins_with_a_snapshot_and_survives_a_restart(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    client.delete("/v1/views/totals")
    first = pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    client.put("/v1/views/totals", json={"query": "SELECT id, customer FROM orders"})
    before = lines(tmp_path)
    assert [line.get("time", line.get("frontier")) for line in before] == [1, 1]
    again = before_replay(tmp_path)
    again.applier.receive(replayed(first, committed=True))
    assert lines(tmp_path) == before


def test_a_view_in_datalog_survives_a_restart(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    body = {"query": "?- orders(customer: who).", "language": "datalog"}
    assert client.put("/v1/views/buyers", json=body).status_code == 201
    first = pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    again = before_replay(tmp_path)
    again.applier.receive(replayed(first, committed=True))
    assert again.pool.scan("buyers").rows.to_pylist() == [{"who": "ada"}]


def test_a_view_that_was_never_acknowledged_is_forgotten(
    client: TestClient, pipeline: DirectPipeline, runtime: Runtime, tmp_path: Path
) -> None:
    runtime.registry.drop_view("totals")
    again = started_again(tmp_path)
    assert again.sink.published == {}
    assert not (tmp_path / "topics" / "deltas.totals").exists()


ENDLESS = """
WITH RECURSIVE steps(n) AS (
    SELECT id FROM orders UNION ALL SELECT n FROM steps
) SELECT n FROM steps
"""


def test_a_view_without_a_fixed_point_fails_alone(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    assert client.put("/v1/views/endless", json={"query": ENDLESS}).status_code == 201
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    view = client.get("/v1/views/endless").json()
    assert view["status"] == "failed"
    assert "UNION" in view["reason"]
    assert client.get("/v1/views/endless/rows?scan=true").json()["code"] == "view-failed"
    assert client.get("/v1/views/totals/rows?customer=ada").json()["rows"]
    assert client.delete("/v1/views/endless").status_code == 204


def test_a_view_that_failed_stays_so_after_a_restart(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    client.put("/v1/views/endless", json={"query": ENDLESS})
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    again = started_again(tmp_path)
    with pytest.raises(ViewFailed, match="UNION"):
        again.views.readable("endless")
    again.views.drop("endless")
    assert again.views.put(Definition("endless", ENDLESS)) is not None
    assert again.views.readable("endless").name == "endless"


def test_a_view_over_one_that_failed_is_refused_with_the_reason(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    client.put("/v1/views/endless", json={"query": ENDLESS})
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    answer = client.put("/v1/views/over", json={"query": "SELECT n FROM endless"})
    assert answer.status_code == 409
    assert answer.json()["code"] == "view-failed"


def test_the_feed_of_a_view_that_fails_ends_with_the_reason(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    client.put("/v1/views/endless", json={"query": ENDLESS})
    fail = partial(pipeline.deliver, "orders", (order(1, "ada", "1"), 1))
    lines = followed(client, "/v1/views/endless/changes?snapshot=false", fail).text.splitlines()
    assert lines[0] == "event: end"
    assert "UNION" in lines[1]
