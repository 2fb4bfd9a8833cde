"""Records are put aside, shown, repaired, applied once, discarded and skipped, over REST."""

from base64 import b64encode
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from api.settings import Settings
from connectors.quarantine.store import Purge, Rejected
from tests.unit.api.decoding import DecodingPipeline
from tests.unit.connectors.records import insert, record

PEOPLE = {
    "columns": [{"name": "id", "type": "int64"}, {"name": "name", "type": "utf8"}],
    "key": ["id"],
    "replica_identity": "full",
}
BAD = "/v1/quarantine/people/0/1"


def make_runtime(data: Path) -> Runtime:
    settings = Settings(data=data, workers=1, on_error="quarantine")
    return Runtime(settings, cast(Any, DecodingPipeline))


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return make_runtime(tmp_path)


@pytest.fixture
def client(runtime: Runtime) -> Iterator[TestClient]:
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        assert client.put("/v1/sources/people", json=PEOPLE).status_code == 201
        view = {"query": "SELECT id, name FROM people", "key": ["id"]}
        assert client.put("/v1/views/names", json=view).status_code == 201
        yield client


@pytest.fixture
def pipeline(runtime: Runtime, client: TestClient) -> DecodingPipeline:
    """The pipeline once it has put the record at offset 1 aside."""
    pipeline = cast(DecodingPipeline, cast(Any, runtime.pipeline))
    pipeline.write("people", insert(1), b"{bad", insert(3))
    return pipeline


def names(client: TestClient) -> dict[int, str]:
    rows = client.get("/v1/views/names/rows", params={"scan": True}).json()["rows"]
    return {row["id"]: row["name"] for row in rows}


def test_a_record_is_shown_with_all_that_is_known(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    (listed,) = client.get("/v1/quarantine").json()["records"]
    assert listed == client.get(BAD).json()
    assert listed["reason"] == "not-json"
    assert (listed["value"], listed["key"], listed["status"]) == ("{bad", None, "open")
    assert (listed["repair"], listed["time"]) == (None, None)


@pytest.mark.usefixtures("engine")
def test_a_repaired_record_lands_at_a_new_time_once(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    repair = {"value_json": {"op": "c", "after": {"id": 2, "name": "two"}}}
    fixed = client.put(BAD, json=repair).json()
    assert fixed["repair"]["value"] == '{"op":"c","after":{"id":2,"name":"two"}}'
    assert names(client) == {1: "a", 3: "a"}, "not before it is replayed"
    replayed = client.post(BAD + "/replay", json={})
    assert (replayed.status_code, replayed.json()["status"]) == (200, "replayed")
    assert replayed.json()["time"] == 2
    assert client.post(BAD + "/replay", json={}).json() == replayed.json()
    assert names(client) == {1: "a", 2: "two", 3: "a"}
    assert client.get(BAD).json()["value"] == "{bad", "the record itself is kept"


@pytest.mark.parametrize(
    "body",
    [
        {"value": '{"op":"c","after":{"id":2,"name":"two"}}'},
        {"value_base64": b64encode(b'{"op":"c","after":{"id":2,"name":"two"}}').decode()},
    ],
)
def test_a_repair_may_be_text_or_bytes(
    client: TestClient, pipeline: DecodingPipeline, body: Any
) -> None:
    client.put(BAD, json=body)
    assert client.post(BAD + "/replay", json={}).status_code == 200
    assert names(client)[2] == "two"


@pytest.mark.parametrize("number", ["12345678901.0123456789", "1" * 30, "1e400", "-0.10"])
def test_numbers_of_a_repair_keep_their_digits(
    client: TestClient, pipeline: DecodingPipeline, number: str
) -> None:
    body = '{"value_json": {"op": "c", "after": {"id": 2, "name": ' + number + "}}}"
    fixed = client.put(BAD, content=body, headers={"content-type": "application/json"})
    assert fixed.json()["repair"]["value"] == '{"op":"c","after":{"id":2,"name":' + number + "}}"


def test_a_repair_that_is_nested_too_deep_is_refused(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    body = '{"value_json": ' + "[" * 400 + "]" * 400 + "}"
    refused = client.put(BAD, content=body, headers={"content-type": "application/json"})
    assert (refused.status_code, refused.json()["code"]) == (400, "bad-parameter")
    assert refused.json()["detail"].startswith("value_json: ")


def test_a_repair_is_given_in_one_form(client: TestClient, pipeline: DecodingPipeline) -> None:
    answer = client.put(BAD, json={"value": "x", "value_json": 1})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-parameter")


def test_what_still_cannot_be_decoded_is_refused_and_stays(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    client.put(BAD, json={"value": "{worse"})
    refused = client.post(BAD + "/replay", json={})
    assert (refused.status_code, refused.json()["code"]) == (422, "still-rejected")
    assert "offset 1: not-json" in refused.json()["detail"]
    assert client.get(BAD).json()["status"] == "open"


def test_many_are_replayed_at_one_time_and_the_refused_are_named(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    pipeline.write("people", b"{bad", record("q"))
    client.put(BAD, json={"value_json": {"op": "c", "after": {"id": 2, "name": "two"}}})
    answer = client.post("/v1/quarantine/replay", json={"table": "people", "reason": "not-json"})
    assert (answer.json()["time"], answer.json()["replayed"]) == (3, 1)
    (refused,) = answer.json()["refused"]
    assert (refused["offset"], refused["code"]) == (3, "still-rejected")
    left = client.get("/v1/quarantine", params={"status": "open"}).json()["records"]
    assert [one["offset"] for one in left] == [3, 4]


def test_a_discarded_record_of_a_dropped_source_is_not_opened_again(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    client.post(BAD + "/discard")
    client.delete("/v1/views/names")
    client.delete("/v1/sources/people")
    assert client.put("/v1/sources/people", json={**PEOPLE, "topic": "others"}).status_code == 201
    refused = client.put(BAD, json={"value_json": {"op": "c", "after": {"id": 2, "name": "two"}}})
    assert (refused.status_code, refused.json()["code"]) == (409, "record-closed")


def test_a_discarded_record_is_kept_and_not_replayed(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    assert client.post(BAD + "/discard").json()["status"] == "discarded"
    refused = client.post(BAD + "/replay", json={})
    assert (refused.status_code, refused.json()["code"]) == (409, "record-closed")
    assert client.put(BAD, json={}).json()["status"] == "open"


def test_a_place_without_a_record_is_unknown(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    for answer in (
        client.get("/v1/quarantine/people/0/0"),
        client.put("/v1/quarantine/people/0/0", json={}),
        client.post("/v1/quarantine/people/0/0/replay", json={}),
        client.post("/v1/quarantine/people/0/0/discard"),
    ):
        assert (answer.status_code, answer.json()["code"]) == (404, "unknown-record")


def test_a_stall_names_its_record_and_skipping_it_goes_on(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    client.put("/v1/sources/people", json={**PEOPLE, "on_error": "stall"})
    pipeline.write("people", b"{bad", insert(5))
    [told] = client.get("/readyz").json()["stalled"]
    for part in ("'people'", "partition 0", "offset 3", "ivm quarantine skip people 0 3"):
        assert part in told["detail"]
    elsewhere = client.post("/v1/quarantine/people/0/4/skip")
    assert (elsewhere.status_code, elsewhere.json()["code"]) == (409, "not-stalled")
    assert client.post("/v1/quarantine/people/0/3/skip").status_code == 202
    assert "stalled" not in client.get("/readyz").json()
    assert names(client) == {1: "a", 3: "a", 5: "a"}
    assert client.get("/v1/quarantine/people/0/3").json()["status"] == "open"


@pytest.mark.usefixtures("engine")
def test_a_correction_is_there_after_a_restart_and_published_once(
    client: TestClient, pipeline: DecodingPipeline, tmp_path: Path
) -> None:
    client.put(BAD, json={"value_json": {"op": "c", "after": {"id": 2, "name": "two"}}})
    client.post(BAD + "/replay", json={})
    client.__exit__()
    topic = tmp_path / "topics" / "deltas.names" / "0" / f"{0:020d}.jsonl"
    before = topic.read_bytes()
    assert before.count(b'"two"') == 1
    restarted = make_runtime(tmp_path)
    with TestClient(create_app(restarted)) as again:
        restarted.readiness.wait()
        assert names(again) == {1: "a", 2: "two", 3: "a"}
        assert again.get(BAD).json()["status"] == "replayed"
    assert topic.read_bytes() == before


def test_every_record_is_counted_as_exactly_one_thing(
    client: TestClient, pipeline: DecodingPipeline
) -> None:
    update = record("u", {"id": 1, "name": "a"}, {"id": 1, "name": "b"})
    pipeline.write("people", b"null", update, b"{bad", b"null")
    client.put(BAD, json={"value": insert(2).decode()})
    client.post(BAD + "/replay", json={})
    source = client.get("/v1/sources/people").json()
    assert source["records"] == {
        "changes": 3,
        "tombstones": 2,
        "ignored": 0,
        "duplicates": 0,
        "rejected": 2,
    }
    assert source["corrected"] == 1
    assert sum(source["records"].values()) == source["offsets"]["0"]
    metrics = client.get("/metrics").text
    assert 'ivm_input_records_total{outcome="tombstones",table="people"} 2.0' in metrics
    assert 'ivm_corrected_records_total{table="people"} 1.0' in metrics
    assert "ivm_records_total 7.0" in metrics


def test_what_is_replayed_after_a_restart_is_not_counted_again(
    client: TestClient, pipeline: DecodingPipeline, tmp_path: Path
) -> None:
    client.__exit__()
    restarted = make_runtime(tmp_path)
    with TestClient(create_app(restarted)) as again:
        restarted.readiness.wait()
        assert not any(again.get("/v1/sources/people").json()["records"].values())


def test_every_route_is_described(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    place = "/v1/quarantine/{table}/{partition}/{offset}"
    assert set(paths[place]) == {"get", "put"}
    for call in ("replay", "discard", "skip"):
        assert set(paths[f"{place}/{call}"]) == {"post"}
    assert set(paths["/v1/quarantine/replay"]) == {"post"}


def closed(runtime: Runtime, client: TestClient) -> None:
    """The record put aside is discarded, and two checkpoints hold what came."""
    assert client.post(f"{BAD}/discard").status_code == 200
    assert runtime.checkpoints.take()
    assert client.post("/v1/quarantine/purge", json={}).json() == {"purged": 0}
    runtime.pipeline.tick()
    assert runtime.checkpoints.take()


def test_a_closed_record_is_purged_once_no_start_needs_it(
    client: TestClient, runtime: Runtime, pipeline: DecodingPipeline
) -> None:
    closed(runtime, client)
    assert client.post("/v1/quarantine/purge", json={}).json() == {"purged": 1}
    assert client.get("/v1/quarantine").json()["records"] == []


def test_an_open_record_is_purged_only_where_that_is_said(
    client: TestClient, runtime: Runtime, pipeline: DecodingPipeline
) -> None:
    closed(runtime, client)
    assert client.put(BAD, json={}).status_code == 200
    assert client.post("/v1/quarantine/purge", json={}).json() == {"purged": 0}
    wanted = {"statuses": ["open"], "table": "people"}
    elsewhere = client.post("/v1/quarantine/purge", json={**wanted, "table": "others"})
    assert elsewhere.json() == {"purged": 0}
    younger = client.post("/v1/quarantine/purge", json={**wanted, "older_than_seconds": 1_000})
    assert younger.json() == {"purged": 0}
    assert client.post("/v1/quarantine/purge", json=wanted).json() == {"purged": 1}
    assert runtime.quarantine.counts() == {}


def test_a_purge_of_nothing_or_of_an_unknown_outcome_is_refused(client: TestClient) -> None:
    for statuses in ([], ["lost"]):
        answer = client.post("/v1/quarantine/purge", json={"statuses": statuses})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid-request"), statuses


def test_the_records_of_a_table_that_was_dropped_are_purged(
    client: TestClient, runtime: Runtime, pipeline: DecodingPipeline
) -> None:
    assert client.delete("/v1/views/names").status_code == 204
    assert client.delete("/v1/sources/people").status_code == 204
    runtime.cleaning.clean()
    assert len(client.get("/v1/quarantine").json()["records"]) == 1, "it is young"
    wanted = {"statuses": ["orphaned", "open"]}
    assert client.post("/v1/quarantine/purge", json=wanted).json() == {"purged": 1}


def test_what_a_purge_frees_is_given_back(runtime: Runtime, tmp_path: Path) -> None:
    store = runtime.quarantine
    store.add(
        Rejected("people", "people", 0, n, "syntax", "bad", bytes(10_000), 1) for n in range(200)
    )
    wanted = Purge(frozenset({"open"}), 2, 0)
    assert store.purge(wanted, {("people", 0): 150}, {}) == 150
    assert len(store.page(1_000)) == 50
    store.close()
    assert (tmp_path / "quarantine.sqlite").stat().st_size < 100 * 10_000
