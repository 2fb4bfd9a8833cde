"""`ivm doctor` names each part that is at fault, the setting to look at, and what to do."""

import json
import time
import uuid
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, cast

import httpx
import orjson
import pytest
from typer.testing import CliRunner

from api.cli.machine import other_clock
from api.cli.main import app
from api.registry import Registry
from api.runtime import Runtime
from connectors.tables.spec import TableSpec
from tests.kafka.client import Kafka
from tests.unit.api.conftest import ORDERS
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.listening import served
from tests.unit.connectors.records import SCHEMA


@pytest.fixture(autouse=True)
def configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A directory of its own, and jars."""
    (tmp_path / "jars").mkdir()
    (tmp_path / "jars" / "source.jar").touch()
    (tmp_path / "data").mkdir()
    monkeypatch.setenv("IVM_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("IVM_SPARK_JARS", str(tmp_path / "jars"))


def examined(fails: bool) -> dict[str, str | None]:
    """The fault of each part."""
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == int(fails), result.output
    return {finding["part"]: finding["fault"] for finding in json.loads(result.output)}


def connect(monkeypatch: pytest.MonkeyPatch, **main: Any) -> None:
    monkeypatch.setenv("IVM_CONNECTIONS", orjson.dumps({"main": main}).decode())


def test_a_service_without_connections_needs_directories_and_java() -> None:
    assert examined(fails=False) == {
        "directory": None,
        "checkpoints": None,
        "Java": None,
        "memory": None,
    }


def warned() -> dict[str, str]:
    """The warnings, by part."""
    result = CliRunner().invoke(app, ["doctor", "--json"])
    found = json.loads(result.output)
    return {finding["part"]: finding["warning"] for finding in found if finding["warning"]}


def test_a_process_that_may_grow_beyond_the_memory_is_warned_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("IVM_MAX_PROCESS_BYTES", str(1 << 50))
    assert "max_process_bytes is" in warned()["memory"]


def test_a_topic_that_forgets_within_a_day_is_warned_of(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kafka: Kafka
) -> None:
    topic = f"people-{uuid.uuid4()}"
    kafka.create_topic(topic, config={"retention.ms": "3600000"})
    connect(monkeypatch, bootstrap_servers=kafka.address)
    declare(tmp_path, topic)
    assert "retention.ms is 3600000" in warned()["source people"]


def test_a_clock_that_differs_is_warned_of() -> None:
    class Handler(BaseHTTPRequestHandler):
        def date_time_string(self, timestamp: float | None = None) -> str:
            return super().date_time_string(time.time() + 60)

        def do_HEAD(self) -> None:
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *arguments: object) -> None:
            """Nothing."""

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        Thread(target=server.handle_request).start()
        found = other_clock(f"http://127.0.0.1:{server.server_port}")
    assert "differ by 5" in str(found) or "differ by 60" in str(found)


def test_a_source_that_stands_still_in_a_running_service_is_warned_of(
    runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    with served(runtime) as (host, port):
        monkeypatch.setenv("IVM_PORT", str(port))
        assert "source orders" not in warned()
        declared = httpx.put(f"http://{host}:{port}/v1/sources/orders", json=ORDERS)
        assert declared.status_code == 201
        cast(DirectPipeline, cast(Any, runtime.pipeline)).stalled = {"orders": "a bad record"}
        assert "stands still" in warned()["source orders"]


def test_a_place_that_cannot_keep_checkpoints_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_CHECKPOINTS", "nowhere://at/all")
    assert "nowhere://at/all" in str(examined(fails=True)["checkpoints"])


def test_a_directory_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("IVM_DATA", str(tmp_path / "file"))
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 1
    assert "data" in result.output


def test_a_silent_broker_and_registry_are_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    connect(monkeypatch, bootstrap_servers="127.0.0.1:9", schema_registry_url="http://127.0.0.1:9")
    found = examined(fails=True)
    assert "connections.main.bootstrap_servers" in str(found["connection main"])
    assert "schema_registry_url" in str(found["registry of main"])


def test_a_source_of_a_connection_that_is_gone_is_told(tmp_path: Path) -> None:
    declare(tmp_path, "people")
    assert "'main'" in str(examined(fails=True)["source people"])


def test_a_topic_that_is_not_there_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kafka: Kafka
) -> None:
    connect(monkeypatch, bootstrap_servers=kafka.address)
    declare(tmp_path, "no-such-topic")
    found = examined(fails=True)
    assert found["connection main"] is None
    assert "no-such-topic" in str(found["source people"])


def declare(tmp_path: Path, topic: str) -> None:
    spec = TableSpec("people", topic, SCHEMA, ("id",), connector="kafka", connection="main")
    with Registry(tmp_path / "data" / "registry.json").adding_source(spec):
        pass
