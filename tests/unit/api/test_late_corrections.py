"""In a table whose rows are set by their keys, a correction does not undo what came after it."""

from typing import Any, cast

import pytest
from fastapi.testclient import TestClient

from api.runtime import Runtime
from tests.unit.api.decoding import DecodingPipeline
from tests.unit.api.test_quarantine import PEOPLE, client, names, runtime
from tests.unit.connectors.records import insert, record

__all__ = ["client", "runtime"]

BAD = "/v1/quarantine/people/0/1"


@pytest.fixture
def pipeline(runtime: Runtime, client: TestClient) -> DecodingPipeline:
    """The pipeline once it has put the record at offset 1 aside; key 1 has a row."""
    client.delete("/v1/views/names")
    client.delete("/v1/sources/people")
    client.put("/v1/sources/people", json={**PEOPLE, "replica_identity": "default"})
    client.put("/v1/views/names", json={"query": "SELECT id, name FROM people", "key": ["id"]})
    pipeline = cast(DecodingPipeline, cast(Any, runtime.pipeline))
    pipeline.write("people", insert(1, "old"), b"{bad")
    return pipeline


def change(client: TestClient, number: int, name: str) -> None:
    body = {"value": record("c", after={"id": number, "name": name}).decode()}
    assert client.put(BAD, json=body).status_code == 200


def replay(client: TestClient, **body: Any) -> tuple[int, str | None]:
    answer = client.post(BAD + "/replay", json=body)
    return answer.status_code, answer.json().get("code")


def test_a_change_of_a_row_that_stood_before_is_applied(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    change(client, 1, "late")
    pipeline.write("people", insert(2))
    assert replay(client) == (200, None)
    assert names(client) == {1: "late", 2: "a"}


def test_a_change_of_a_row_that_was_set_since_is_refused_unless_told(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    change(client, 1, "late")
    pipeline.write("people", insert(1, "new"))
    assert replay(client) == (409, "superseded")
    assert "offset 2" in client.post(BAD + "/replay", json={}).json()["detail"]
    assert names(client) == {1: "new"}
    assert replay(client, overwrite=True) == (200, None)
    assert names(client) == {1: "late"}


def test_a_row_that_was_deleted_since_does_not_come_back(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    change(client, 1, "late")
    pipeline.write("people", record("d", before={"id": 1, "name": "old"}))
    assert replay(client) == (409, "superseded")
    assert names(client) == {}


def test_a_later_record_that_was_put_aside_has_said_nothing(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    change(client, 3, "late")
    unlogged = {"id": 3, "name": "__debezium_unavailable_value"}
    pipeline.write("people", record("u", after=unlogged))
    assert client.get("/v1/quarantine/people/0/2").json()["reason"] == "unavailable-value"
    assert replay(client) == (200, None)
    assert names(client) == {1: "old", 3: "late"}


def test_a_later_correction_counts_as_later(client: TestClient, pipeline: DecodingPipeline) -> None:
    pipeline.write("people", b"{bad")
    later = "/v1/quarantine/people/0/2"
    client.put(later, json={"value": insert(1, "new").decode()})
    assert client.post(later + "/replay", json={}).status_code == 200
    change(client, 1, "late")
    assert replay(client) == (409, "superseded")
    assert names(client) == {1: "new"}


def test_corrections_of_one_key_that_come_together_end_with_the_last(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    pipeline.write("people", b"{bad")
    client.put("/v1/quarantine/people/0/2", json={"value": insert(1, "new").decode()})
    change(client, 1, "late")
    answer = client.post("/v1/quarantine/replay", json={"table": "people"})
    assert answer.json()["replayed"] == 2
    assert names(client) == {1: "new"}


def test_where_later_records_cannot_be_read_again_it_is_refused(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    change(client, 1, "late")
    for segment in (pipeline.topics / "people" / "0").iterdir():
        segment.write_bytes(b"")
    assert replay(client) == (409, "superseded")
    assert replay(client, overwrite=True) == (200, None)
