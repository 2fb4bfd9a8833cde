"""Views without look-ups: delivered and followed like all others, but their rows are not kept."""

from functools import partial
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.runtime import Runtime
from connectors.progress.batches import TimedBatch
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.feeds import followed
from tests.unit.api.orders import order
from tests.unit.api.test_exactly_once import before_replay, lines, replayed

UNKEPT = {"query": "SELECT id, customer FROM orders", "lookups": False}


@pytest.fixture(autouse=True)
def delivered(client: TestClient, pipeline: DirectPipeline) -> TimedBatch:
    """An order, before the view `totals` is made."""
    client.delete("/v1/views/totals")
    first = pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    assert client.put("/v1/views/totals", json=UNKEPT).status_code == 201
    return first


def published(data: Path) -> list[tuple[int, str, int]]:
    """Time, op and id of each delta."""
    return [(d["time"], d["op"], d["row"]["id"]) for d in lines(data) if "row" in d]


def test_its_topic_has_the_snapshot_and_every_change(
    pipeline: DirectPipeline, tmp_path: Path
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), -1), (order(2, "bob", "1"), 1))
    assert sorted(published(tmp_path)) == [(1, "+", 1), (2, "+", 2), (2, "-", 1)]


def test_no_arrangement_is_made_for_it(client: TestClient) -> None:
    described = client.get("/v1/views/totals").json()
    assert described["lookups"] is False
    assert [a["name"] for a in described["arrangements"]] == ["orders[id]"]


def test_an_explanation_foretells_an_arrangement_of_its_rows_only_for_look_ups(
    client: TestClient,
) -> None:
    body = {"query": "SELECT id, count(*) AS n FROM orders GROUP BY id", "key": ["n"]}
    made = {}
    for lookups in (True, False):
        answer = client.post("/v1/explain", json={**body, "lookups": lookups}).json()
        made[lookups] = [each["name"] for each in answer["arrangements"]["created"]]
    assert made == {True: ["(new)[n]"], False: []}


def test_a_restart_publishes_nothing_twice_and_keeps_no_rows_either(
    delivered: TimedBatch, tmp_path: Path
) -> None:
    before = lines(tmp_path)
    again = before_replay(tmp_path)
    again.applier.receive(replayed(delivered, committed=True))
    assert lines(tmp_path) == before
    assert not again.views.get("totals").lookups
    used = [info.name for info in again.pool.arrangements() if "totals" in info.users]
    assert used == ["orders[id]"]


@pytest.mark.parametrize(
    "path", ["rows?id=1", "rows?scan=true", "changes"], ids=["look-up", "scan", "snapshot"]
)
def test_whoever_asks_for_its_rows_is_told_what_to_do(client: TestClient, path: str) -> None:
    answer = client.get(f"/v1/views/totals/{path}")
    assert (answer.status_code, answer.json()["code"]) == (400, "not-indexed")
    assert "lookups: false" in answer.json()["detail"]
    assert "follow its changes" in answer.json()["detail"]


def test_it_is_followed_from_a_time_on(
    client: TestClient, runtime: Runtime, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(2, "bob", "1"), 1))
    drop = partial(runtime.views.drop, "totals")
    found = followed(client, "/v1/views/totals/changes?since=0", drop).text.splitlines()
    assert [line for line in found if line.startswith("event: ")] == [
        "event: changes",
        "event: changes",
        "event: end",
    ]


def test_a_view_over_it_is_refused_with_advice(client: TestClient) -> None:
    answer = client.put("/v1/views/more", json={"query": "SELECT id FROM totals"})
    assert (answer.status_code, answer.json()["code"]) == (422, "unsupported")
    assert "'totals' was declared with lookups: false" in answer.json()["detail"]


def test_the_same_with_look_ups_is_another_view(client: TestClient) -> None:
    assert client.put("/v1/views/totals", json=UNKEPT).status_code == 200
    answer = client.put("/v1/views/totals", json={**UNKEPT, "lookups": True})
    assert (answer.status_code, answer.json()["code"]) == (409, "different-definition")
