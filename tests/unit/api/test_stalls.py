"""A source that stands still is told wherever somebody would take its rows for the present ones."""

from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.unit.api.conftest import ORDERS
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order

WHY = "topic 'orders' was deleted"


@pytest.fixture
def stalled(client: TestClient, pipeline: DirectPipeline) -> DirectPipeline:
    """The pipeline of a service in which `orders` stands still after a row, and `others` does not.

    `totals` reads the first, `upon` that view, and `apart` the other source.
    """
    assert client.put("/v1/sources/others", json=ORDERS).status_code == 201
    for view, read in (("upon", "totals"), ("apart", "others")):
        body = {"query": f"SELECT customer FROM {read}"}
        assert client.put(f"/v1/views/{view}", json=body).status_code == 201
    pipeline.deliver("orders", (order(1, "ada", "1.00"), 1))
    pipeline.stalled = {"orders": WHY}
    return pipeline


def told(client: TestClient, path: str, **parameters: Any) -> Any:
    """Why something that an answer tells of stands still."""
    answer = client.get(path, params=parameters)
    assert answer.status_code == 200, answer.text
    return answer.json().get("stalled")


def test_the_service_is_ready_and_names_it(client: TestClient, stalled: DirectPipeline) -> None:
    [fault] = told(client, "/readyz")
    assert fault == {"part": "source orders", "setting": None, "detail": WHY}
    stalled.stalled = {}
    assert told(client, "/readyz") is None


def test_a_service_that_is_not_ready_names_it_too(
    client: TestClient, stalled: DirectPipeline
) -> None:
    stalled.state = "failed"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert [fault["part"] for fault in answer.json()["stalled"]] == ["source orders"]


def test_it_is_told_by_its_source_and_the_views_over_it(
    client: TestClient, stalled: DirectPipeline
) -> None:
    for path in ("sources/orders", "views/totals", "views/upon"):
        assert told(client, f"/v1/{path}") == WHY
    for path in ("sources/others", "views/apart"):
        assert told(client, f"/v1/{path}") is None
    listed = client.get("/v1/views").json()["views"]
    assert {view["name"]: view["stalled"] for view in listed} == {
        "totals": WHY,
        "upon": WHY,
        "apart": None,
    }


def test_a_look_up_answers_and_tells_it(client: TestClient, stalled: DirectPipeline) -> None:
    found = client.get("/v1/views/upon/rows", params={"scan": "true"})
    assert (found.json()["rows"], found.json()["stalled"]) == ([{"customer": "ada"}], WHY)
    assert told(client, "/v1/views/apart/rows", scan="true") is None
    stalled.stalled = {}
    again = client.get(
        "/v1/views/upon/rows",
        params={"scan": "true"},
        headers={"if-none-match": found.headers["etag"]},
    )
    assert again.status_code == 200, "that it goes on is news"


def test_a_query_answers_and_tells_it(client: TestClient, stalled: DirectPipeline) -> None:
    for read, why in (("upon", WHY), ("orders", WHY), ("others", None)):
        body = {"query": f"SELECT customer FROM {read}"}
        answer = client.post("/v1/query", json=body)
        assert answer.json().get("stalled") == why
        csv = client.post("/v1/query", json=body, headers={"accept": "text/csv"})
        assert csv.headers.get("ivm-stalled") == ("true" if why else None)


def test_nobody_waits_for_its_records(client: TestClient, stalled: DirectPipeline) -> None:
    path, scan = "/v1/views/totals/rows", {"scan": "true"}
    assert client.get(path, params={**scan, "at_least": "orders:0:0"}).status_code == 200
    answer = client.get(path, params={**scan, "at_least": "orders:0:1"})
    assert (answer.status_code, answer.json()["code"]) == (503, "stalled")
    assert WHY in answer.json()["detail"]


def test_it_is_measured(client: TestClient, stalled: DirectPipeline) -> None:
    text = client.get("/metrics").text
    assert 'ivm_source_stalled{source="orders"} 1.0' in text
    assert 'ivm_source_stalled{source="others"} 0.0' in text
    assert "ivm_ready 1.0" in text


def test_it_is_tried_again_where_it_is_put_as_it_is(
    client: TestClient, stalled: DirectPipeline
) -> None:
    body = {**ORDERS, "on_error": "quarantine"}
    assert client.put("/v1/sources/orders", json=body).status_code == 200
    assert told(client, "/v1/sources/orders") is None
