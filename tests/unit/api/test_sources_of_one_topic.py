"""Two sources of one topic, one declared later: what is told of each, and waited for."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from api.app import create_app
from api.runtime import Runtime
from api.services.definition import Definition
from connectors.tables.spec import TableSpec
from tests.unit.api.filed import make_runtime, pipeline_of, runtime_on, take_checkpoint, write_rows

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False)])
EARLY = TableSpec("early", "t", SCHEMA, ("id",), replica_identity="full")
LATE = replace(EARLY, name="late")
RECORDS = 5


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return make_runtime(tmp_path, wait_seconds=0.05)


@pytest.fixture
def client(runtime: Runtime, tmp_path: Path) -> Iterator[TestClient]:
    """Of a service where `early` has read its topic, and `late` was declared on it just now."""
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        _declare(runtime, EARLY)
        write_rows(tmp_path, "t", *(({"id": n}, 1) for n in range(RECORDS)))
        pipeline_of(runtime).step()
        _declare(runtime, LATE)
        yield client


def _declare(runtime: Runtime, spec: TableSpec) -> None:
    runtime.sources.put(spec)
    runtime.views.put(Definition(f"of_{spec.name}", f"SELECT id FROM {spec.name}"))


def _rows(client: TestClient, view: str, *at_least: str) -> Any:
    parameters = {"scan": "true", "at_least": list(at_least)}
    return client.get(f"/v1/views/{view}/rows", params=parameters)


@pytest.mark.parametrize("name", ["t", "late"])
def test_a_view_waits_for_its_own_source(client: TestClient, runtime: Runtime, name: str) -> None:
    answer = _rows(client, "of_late", f"{name}:0:3")
    assert (answer.status_code, answer.json()["code"]) == (504, "offset-not-reached")
    assert "late" in answer.json()["detail"]
    pipeline_of(runtime).step()
    assert len(_rows(client, "of_late", f"{name}:0:3").json()["rows"]) == RECORDS


@pytest.mark.parametrize("name", ["t", "early"])
def test_a_view_does_not_wait_for_sources_that_it_does_not_read(
    client: TestClient, name: str
) -> None:
    assert len(_rows(client, "of_early", f"{name}:0:3").json()["rows"]) == RECORDS


def test_a_view_of_views_waits_for_the_sources_beneath(
    client: TestClient, runtime: Runtime
) -> None:
    query = "SELECT id FROM of_early UNION ALL SELECT id FROM of_late"
    runtime.views.put(Definition("both", query))
    assert _rows(client, "both", "t:0:3").status_code == 504
    assert _rows(client, "both", "early:0:3").status_code == 200


def test_a_name_of_neither_a_topic_nor_a_source_is_refused(client: TestClient) -> None:
    answer = _rows(client, "of_early", "nothing:0:3")
    assert (answer.status_code, answer.json()["code"]) == (400, "bad-parameter")


def test_look_ups_say_what_each_source_reflects_and_what_all_of_a_topic_do(
    client: TestClient, runtime: Runtime
) -> None:
    answer = _rows(client, "of_late").json()
    assert answer["offsets"] == {}
    assert answer["sources"] == {"early": {"0": RECORDS}, "late": {}}
    pipeline_of(runtime).step(2)
    answer = _rows(client, "of_late").json()
    assert answer["offsets"] == {"t": {"0": 2}}
    assert answer["sources"] == {"early": {"0": RECORDS}, "late": {"0": 2}}


def test_a_source_says_its_own_position_and_lag(client: TestClient) -> None:
    sources = client.get("/v1/sources").json()["sources"]
    assert {s["name"]: (s["offsets"], s["lag"]) for s in sources} == {
        "early": ({"0": RECORDS}, {"0": 0}),
        "late": ({}, {"0": RECORDS}),
    }


def test_metrics_have_the_lag_of_each_source_and_partition(client: TestClient) -> None:
    families = text_string_to_metric_families(client.get("/metrics").text)
    [lag] = [family for family in families if family.name == "ivm_lag_records"]
    found = {tuple(sorted(sample.labels.items())): sample.value for sample in lag.samples}
    place = ("partition", "0"), ("topic", "t")
    early, late = ((place[0], ("source", name), place[1]) for name in ("early", "late"))
    assert found == {early: 0, late: RECORDS}


def test_the_frontier_of_a_new_view_does_not_claim_what_its_source_has_not_read(
    client: TestClient, runtime: Runtime, tmp_path: Path
) -> None:
    assert _frontiers(tmp_path, "of_late") == [
        {"frontier": 1, "offsets": {}, "sources": {"early": {"0": RECORDS}, "late": {}}}
    ]
    pipeline_of(runtime).step()
    ends = {"0": RECORDS}
    last = {"frontier": 2, "offsets": {"t": ends}, "sources": {"early": ends, "late": ends}}
    assert _frontiers(tmp_path, "of_late")[-1] == last


def _frontiers(data: Path, view: str) -> list[Any]:
    directory = data / "topics" / f"deltas.{view}" / "0"
    lines = (directory / f"{0:020d}.jsonl").read_bytes().splitlines()
    return [line for line in map(orjson.loads, lines) if "frontier" in line]


@pytest.mark.parametrize("from_a_checkpoint", [True, False])
def test_positions_of_each_source_outlive_a_restart(
    client: TestClient, runtime: Runtime, tmp_path: Path, from_a_checkpoint: bool
) -> None:
    pipeline_of(runtime).step(2)
    if from_a_checkpoint:
        assert take_checkpoint(runtime)
    again = runtime_on(tmp_path)
    assert again.applier.offsets().by_source() == {"early": {0: RECORDS}, "late": {0: 2}}


def test_a_source_that_is_dropped_holds_its_topic_back_no_more(
    client: TestClient, runtime: Runtime
) -> None:
    runtime.views.drop("of_late")
    runtime.sources.drop("late")
    answer = _rows(client, "of_early", "t:0:3").json()
    assert (answer["offsets"], answer["sources"]) == (
        {"t": {"0": RECORDS}},
        {"early": {"0": RECORDS}},
    )
