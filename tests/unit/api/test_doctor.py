"""`ivm doctor` names each part that is at fault, the setting to look at, and what to do."""

import json
from pathlib import Path
from typing import Any

import orjson
import pytest
from typer.testing import CliRunner

from api.cli.main import app
from api.registry import Registry
from connectors.tables.spec import TableSpec
from tests.kafka.client import Kafka
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
    }


def test_a_place_that_cannot_keep_checkpoints_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_CHECKPOINTS", "nowhere://at/all")
    assert "nowhere://at/all" in str(examined(fails=True)["checkpoints"])


def test_a_directory_that_cannot_be_written_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("IVM_DATA", str(tmp_path / "file"))
    result = CliRunner().invoke(app, ["doctor"], env={"COLUMNS": "200"})
    assert result.exit_code == 1
    assert "data" in result.output


def test_missing_jars_and_a_silent_broker_and_registry_are_told_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IVM_SPARK_JARS", str(tmp_path / "nowhere"))
    connect(monkeypatch, bootstrap_servers="127.0.0.1:9", schema_registry_url="http://127.0.0.1:9")
    found = examined(fails=True)
    assert "make jars" in str(found["jars"])
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
