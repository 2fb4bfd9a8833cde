"""Columns of every type beyond numbers, texts and dates, from a source to answers and deltas."""

import uuid
from pathlib import Path
from typing import Any, cast

from fastapi.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from ivm.values.types import Interval, interval_constant
from tests.unit.api.conftest import make_runtime
from tests.unit.api.direct import DirectPipeline

THINGS: dict[str, Any] = {
    "columns": [
        {"name": "id", "type": "int64", "nullable": False},
        {"name": "code", "type": "uuid"},
        {"name": "span", "type": "interval"},
        {"name": "doc", "type": "json"},
        {"name": "tags", "type": "list<utf8>"},
    ],
    "key": ["id"],
    "replica_identity": "full",
}
QUERY = """
SELECT id, code, span * 2 AS span, doc -> 'a' AS a, tag, n
FROM things, unnest(tags) WITH ORDINALITY AS u(tag, n)
"""
CODE = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
THING = {
    "id": 1,
    "code": uuid.UUID(CODE),
    "span": interval_constant(Interval(1, 2, 3_500_000)),
    "doc": '{"a": [1, "x"]}',
    "tags": ["p", "q"],
}
FIRST = {
    "id": 1,
    "code": CODE,
    "span": "2 mons 4 days 00:00:07",
    "a": '[1, "x"]',
    "tag": "p",
    "n": 1,
}


def test_values_of_every_type_are_answered(client: TestClient, runtime: Runtime) -> None:
    assert client.put("/v1/sources/things", json=THINGS).status_code == 201
    assert client.put("/v1/views/parts", json={"query": QUERY, "key": ["code"]}).status_code == 201
    pipeline = cast(DirectPipeline, cast(Any, runtime.pipeline))
    pipeline.deliver("things", (THING, 1))
    rows = client.get("/v1/views/parts/rows", params={"code": CODE.upper()}).json()["rows"]
    assert sorted(rows, key=lambda row: row["n"]) == [FIRST, {**FIRST, "tag": "q", "n": 2}]
    first = client.get("/v1/views/parts/rows", params={"scan": "true", "limit": "1"}).json()
    rest = client.get("/v1/views/parts/rows", params={"scan": "true", "cursor": first["next"]})
    assert [*first["rows"], *rest.json()["rows"]] == sorted(rows, key=lambda row: row["tag"])
    pipeline.deliver("things", (THING, -1))
    assert client.get("/v1/views/parts/rows", params={"code": CODE}).json()["rows"] == []


def test_a_text_that_is_no_uuid_is_refused(client: TestClient, runtime: Runtime) -> None:
    client.put("/v1/sources/things", json=THINGS)
    client.put("/v1/views/parts", json={"query": QUERY, "key": ["code"]})
    answer = client.get("/v1/views/parts/rows", params={"code": "a0ee"})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-parameter")


def test_a_view_over_an_instant_of_any_zone_survives_a_restart(tmp_path: Path) -> None:
    column = {"name": "at", "type": "timestamp[us, tz=Europe/Berlin]"}
    query = "SELECT id, at, to_char(at, 'HH24') AS hour FROM events"
    with TestClient(create_app(make_runtime(tmp_path))) as client:
        body = {"columns": [THINGS["columns"][0], column], "key": ["id"]}
        assert client.put("/v1/sources/events", json=body).status_code == 201
        assert client.put("/v1/views/hours", json={"query": query}).status_code == 201
    again = make_runtime(tmp_path)
    with TestClient(create_app(again)) as client:
        again.readiness.wait()
        assert client.get("/v1/sources/events").json()["columns"][1]["type"].endswith("tz=UTC]")
        assert client.put("/v1/sources/events", json=body).status_code == 200


def test_an_interval_is_looked_up_by_its_span(client: TestClient, runtime: Runtime) -> None:
    client.put("/v1/sources/things", json=THINGS)
    query = "SELECT span, id FROM things"
    client.put("/v1/views/spans", json={"query": query, "key": ["span"]})
    pipeline = cast(DirectPipeline, cast(Any, runtime.pipeline))
    for number, days in ((2, 30), (3, 29)):
        thing = {**THING, "id": number, "span": interval_constant(Interval(0, days, 0))}
        pipeline.deliver("things", (thing, 1))
    pipeline.deliver("things", ({**THING, "span": interval_constant(Interval(1, 0, 0))}, 1))
    for text in ("1 mon", "720 hours"):
        for scan in ("true", "false"):
            given = {"span": text, "scan": scan}
            rows = client.get("/v1/views/spans/rows", params=given).json()["rows"]
            assert [row["id"] for row in rows] == [2, 1]
    first = client.get("/v1/views/spans/rows", params={"scan": "true", "limit": "2"}).json()
    rest = client.get("/v1/views/spans/rows", params={"scan": "true", "cursor": first["next"]})
    rows = [*first["rows"], *rest.json()["rows"]]
    assert [row["span"] for row in rows] == ["29 days", "30 days", "1 mon"]


def test_a_key_that_is_an_interval_is_one_key_in_any_spelling(
    client: TestClient, runtime: Runtime
) -> None:
    key = {"name": "span", "type": "interval", "nullable": False}
    spans = {"columns": [key, {"name": "n", "type": "int64"}], "key": ["span"]}
    assert client.put("/v1/sources/spans", json=spans).status_code == 201
    query = {"query": "SELECT span, n FROM spans", "key": ["span"]}
    assert client.put("/v1/views/rows", json=query).status_code == 201
    pipeline = cast(DirectPipeline, cast(Any, runtime.pipeline))
    pipeline.deliver("spans", ({"span": interval_constant(Interval(1, 0, 0)), "n": 1}, 1))
    pipeline.deliver("spans", ({"span": interval_constant(Interval(0, 30, 0)), "n": 2}, 1))
    answer = client.get("/v1/views/rows/rows", params={"scan": "true"}).json()
    assert answer["rows"] == [{"span": "1 mon", "n": 2}]
    gone = {"span": interval_constant(Interval(0, 0, 30 * 86_400_000_000)), "n": None}
    pipeline.deliver("spans", (gone, -1))
    assert client.get("/v1/views/rows/rows", params={"scan": "true"}).json()["rows"] == []
