"""Rows that are posted: written all or none, once for a key, and reflected like any change."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from tests.unit.api.described import Described
from tests.unit.api.filed import FilePipeline, make_runtime, pipeline_of

ORDERS = {
    "connector": "http",
    "columns": [
        {"name": "id", "type": "bigint"},
        {"name": "customer", "type": "text"},
        {"name": "amount", "type": "numeric(12, 2)"},
    ],
    "key": ["id"],
}
ROWS = [{"id": 1, "customer": "ada", "amount": "7.50"}, {"id": 2, "customer": "bob", "amount": 1}]
PATH = "/v1/sources/orders/rows"


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return make_runtime(tmp_path)


@pytest.fixture
def client(runtime: Runtime, document: dict[str, Any]) -> Iterator[TestClient]:
    """A client of a service that reads real file topics, once `step` lets it."""
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        client.event_hooks["response"].append(Described(document))
        yield client


@pytest.fixture
def orders(runtime: Runtime, client: TestClient) -> FilePipeline:
    """A table of posted rows, and a view of them."""
    assert client.put("/v1/sources/orders", json=ORDERS).status_code == 201
    view = {"query": "SELECT id, customer, amount FROM orders"}
    assert client.put("/v1/views/seen", json=view).status_code == 201
    return pipeline_of(runtime)


def seen(client: TestClient, pipeline: FilePipeline, at_least: str) -> list[tuple[Any, ...]]:
    """The rows of the view, once it reflects what was written."""
    pipeline.step()
    found = client.get("/v1/views/seen/rows", params={"scan": "true", "at_least": at_least})
    assert found.status_code == 200, found.text
    return sorted((row["id"], row["customer"], row["amount"]) for row in found.json()["rows"])


def test_rows_are_reflected(client: TestClient, orders: FilePipeline) -> None:
    written = client.post(PATH, json=ROWS).json()
    assert written == {"rows": 2, "offsets": {"0": 2}, "at_least": "orders:0:1", "again": False}
    assert seen(client, orders, written["at_least"]) == [(1, "ada", "7.50"), (2, "bob", "1.00")]


def test_a_row_replaces_that_of_its_key(client: TestClient, orders: FilePipeline) -> None:
    client.post(PATH, json=ROWS)
    written = client.post(PATH, json={"id": 1, "customer": "eve"}).json()
    assert seen(client, orders, written["at_least"])[0] == (1, "eve", None)


def test_changes_insert_update_and_delete(client: TestClient, orders: FilePipeline) -> None:
    changes = [{"insert": ROWS[0]}, {"insert": ROWS[1]}, {"update": {**ROWS[0], "amount": 9}}]
    client.post(PATH, params={"changes": "true"}, json=changes)
    written = client.post(PATH, params={"changes": "true"}, json=[{"delete": {"id": 2}}]).json()
    assert seen(client, orders, written["at_least"]) == [(1, "ada", "9.00")]


def test_numbers_keep_their_digits(client: TestClient) -> None:
    columns = [{"name": "n", "type": "numeric(38, 10)"}]
    client.put("/v1/sources/orders", json={"connector": "http", "columns": columns})
    body = b'{"n": 1234567890123456789012345678.0123456789}\n'
    found = client.post(PATH, content=body, headers={"content-type": "application/x-ndjson"})
    assert found.status_code == 200, found.text


def arrow(rows: list[dict[str, Any]]) -> bytes:
    table = pa.Table.from_pylist(rows)
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    return sink.getvalue()


BODIES = {
    "application/x-ndjson": (
        b'{"id":1,"customer":"ada","amount":7.50}\n\n{"id":2,"customer":"bob"}\n'
    ),
    "text/csv": b'customer,id,amount\r\n"ada",1,7.50\r\nbob,2,\r\n',
    "application/vnd.apache.arrow.stream": arrow(
        [{"id": 1, "customer": "ada", "amount": 7.5}, {"id": 2, "customer": "bob", "amount": None}]
    ),
}


@pytest.mark.parametrize("media", BODIES)
def test_rows_come_in_forms(client: TestClient, orders: FilePipeline, media: str) -> None:
    found = client.post(PATH, content=BODIES[media], headers={"content-type": media})
    assert found.status_code == 200, found.text
    assert seen(client, orders, found.json()["at_least"]) == [
        (1, "ada", "7.50"),
        (2, "bob", None),
    ]


def test_a_key_is_written_once(client: TestClient, orders: FilePipeline) -> None:
    headers = {"idempotency-key": "a"}
    first = client.post(PATH, json=ROWS, headers=headers).json()
    assert client.post(PATH, json=ROWS, headers=headers).json() == first | {"again": True}
    refused = client.post(PATH, json=ROWS[:1], headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency-key-reused")


FAULTS = {
    "another column": (
        [*ROWS, {"id": 3, "custmer": "x"}],
        "row 3: the table has no column custmer",
    ),
    "no key": ([{"customer": "x"}], "row 1: neither the record's key nor its row has 'id'"),
    "another type": ([{"id": "x"}], "row 1: column 'id'"),
    "too many digits": ([{"id": 1, "amount": "1.234"}], "row 1: column 'amount'"),
    "no object": ([1], "row 1 is not an object"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_rows_at_fault_are_named_and_none_is_written(
    client: TestClient, orders: FilePipeline, fault: str
) -> None:
    rows, told = FAULTS[fault]
    refused = client.post(PATH, json=rows)
    assert (refused.status_code, refused.json()["code"]) == (422, "bad-rows")
    assert told in refused.json()["detail"]
    assert client.post(PATH, json=[]).json()["offsets"] == {"0": 0}


@pytest.mark.parametrize(
    "change", [{"upsert": ROWS[0]}, {"insert": ROWS[0], "delete": {}}, {"delete": {}}, ROWS[0], 1]
)
def test_what_is_no_change_is_refused(
    client: TestClient, orders: FilePipeline, change: Any
) -> None:
    refused = client.post(PATH, params={"changes": "true"}, json=[change])
    assert (refused.status_code, refused.json()["code"]) == (422, "bad-rows")


def test_rows_without_a_key_stay(client: TestClient) -> None:
    client.put("/v1/sources/orders", json={**ORDERS, "key": []})
    assert client.get("/v1/sources/orders").json()["envelope"] == "append"
    refused = client.post(PATH, params={"changes": "true"}, json=[{"delete": ROWS[0]}])
    assert "without a primary key stay" in refused.json()["detail"]
    assert client.post(PATH, json=ROWS).status_code == 200


def test_a_topic_that_others_write_takes_no_rows(client: TestClient) -> None:
    client.put("/v1/sources/orders", json={**ORDERS, "connector": "files"})
    refused = client.post(PATH, json=ROWS)
    assert (refused.status_code, refused.json()["code"]) == (409, "not-written-here")


def test_an_unknown_source_takes_no_rows(client: TestClient) -> None:
    assert client.post(PATH, json=ROWS).status_code == 404


def test_another_media_type_is_refused(client: TestClient, orders: FilePipeline) -> None:
    refused = client.post(PATH, content=b"x", headers={"content-type": "text/html"})
    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported-media-type")


def test_a_file_topic_that_is_there_is_not_taken_over(client: TestClient, runtime: Runtime) -> None:
    directory = runtime.topics / "orders" / "0"
    directory.mkdir(parents=True)
    refused = client.put("/v1/sources/orders", json=ORDERS)
    assert (refused.status_code, refused.json()["code"]) == (422, "invalid-table")
    assert directory.exists()


def test_a_dropped_table_takes_its_rows_along(client: TestClient, orders: FilePipeline) -> None:
    client.post(PATH, json=ROWS)
    client.delete("/v1/views/seen")
    assert client.delete("/v1/sources/orders").status_code == 204
    assert client.put("/v1/sources/orders", json=ORDERS).status_code == 201
    assert client.post(PATH, json=ROWS[:1]).json()["offsets"] == {"0": 1}


def test_a_topic_that_another_source_reads_is_kept(client: TestClient) -> None:
    client.put("/v1/sources/orders", json=ORDERS)
    copy = {**ORDERS, "connector": "files", "topic": "orders", "envelope": "flat"}
    assert client.put("/v1/sources/copy", json=copy).status_code == 201
    refused = client.delete("/v1/sources/orders")
    assert (refused.status_code, refused.json()["code"]) == (409, "still-used")


@pytest.fixture
def restarted(tmp_path: Path) -> Iterator[TestClient]:
    """The service on a data directory to which another one wrote, and stopped."""
    with TestClient(create_app(make_runtime(tmp_path))) as client:
        client.put("/v1/sources/orders", json=ORDERS)
        client.post(PATH, json=ROWS, headers={"idempotency-key": "a"})
    with TestClient(create_app(make_runtime(tmp_path))) as client:
        yield client


def test_rows_and_keys_outlive_the_service(restarted: TestClient) -> None:
    again = restarted.post(PATH, json=ROWS, headers={"idempotency-key": "a"}).json()
    assert (again["again"], again["offsets"]) == (True, {"0": 2})
