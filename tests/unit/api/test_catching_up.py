"""A new source is not caught up before it has read what its topic held when it was declared."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from connectors.tables.spec import TableSpec
from tests.unit.api.filed import make_runtime, pipeline_of, runtime_on, take_checkpoint, write_rows

SCHEMA = pa.schema([pa.field("id", pa.int64(), nullable=False)])
SOURCE = TableSpec("late", "t", SCHEMA, ("id",), replica_identity="full")
RECORDS = 5


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return make_runtime(tmp_path)


@pytest.fixture
def client(runtime: Runtime, tmp_path: Path) -> Iterator[TestClient]:
    """Of a service with a source on a topic that has records, none of which was read."""
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        runtime.readiness.wait()
        write_rows(tmp_path, "t", *(({"id": n}, 1) for n in range(RECORDS)))
        runtime.sources.put(SOURCE)
        yield client


def _is_ready(client: TestClient) -> bool:
    return bool(client.get("/readyz").is_success)


def _is_caught_up(client: TestClient) -> Any:
    return client.get("/v1/sources/late").json()["caught_up"]


def test_the_service_is_not_ready_and_says_how_far_the_source_is(
    client: TestClient, runtime: Runtime
) -> None:
    pipeline_of(runtime).step(2)
    problem = client.get("/readyz").json()
    assert problem["code"] == "not-ready"
    [fault] = problem["faults"]
    assert fault["part"] == "source late"
    assert "partition 0 to offset 2 of 5" in fault["detail"]
    assert "ivm_ready 0.0" in client.get("/metrics").text
    assert _is_caught_up(client) is False


def test_it_is_ready_once_all_of_that_is_reflected(client: TestClient, runtime: Runtime) -> None:
    pipeline_of(runtime).step()
    assert _is_ready(client)
    assert _is_caught_up(client) is True


def test_records_that_came_after_the_declaration_are_not_waited_for(
    client: TestClient, runtime: Runtime, tmp_path: Path
) -> None:
    write_rows(tmp_path, "t", ({"id": 9}, 1))
    pipeline_of(runtime).step(RECORDS)
    assert _is_ready(client)


def test_an_empty_topic_is_not_waited_for(client: TestClient, runtime: Runtime) -> None:
    pipeline_of(runtime).step()
    runtime.sources.put(TableSpec("empty", "nothing", SCHEMA, ("id",), replica_identity="full"))
    assert _is_ready(client)


def test_a_source_that_is_dropped_is_not_waited_for(client: TestClient, runtime: Runtime) -> None:
    runtime.sources.drop("late")
    assert _is_ready(client)


@pytest.mark.parametrize("from_a_checkpoint", [False, True])
def test_a_restart_amid_it_does_not_forget_what_is_waited_for(
    client: TestClient, runtime: Runtime, tmp_path: Path, from_a_checkpoint: bool
) -> None:
    pipeline_of(runtime).step(2)
    if from_a_checkpoint:
        assert take_checkpoint(runtime)
        runtime.journal.compact(runtime.pool.frontier - 1)
    again = runtime_on(tmp_path)
    assert set(again.readiness.catching_up()) == {"late"}
    pipeline_of(again).step()
    assert again.readiness.catching_up() == {}
    assert again.readiness.fault() is None
