"""Sources without columns, and proposals: over HTTP, from the command line, and after a restart."""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient
from typer.testing import CliRunner

from api.app import create_app
from api.cli.main import app
from api.runtime import Runtime
from connectors.files.writer import TopicWriter
from tests.unit.api.filed import make_runtime, pipeline_of, runtime_on
from tests.unit.api.listening import served

ROOT = Path(__file__).parents[3]
PAGE = ROOT / "docs" / "sources.md"
FIELDS = [{"field": "id", "type": "int64"}, {"field": "name", "type": "string", "optional": True}]
SCHEMA = {
    "type": "struct",
    "fields": [
        {"field": "before", "type": "struct", "optional": True, "fields": FIELDS},
        {"field": "after", "type": "struct", "optional": True, "fields": FIELDS},
        {"field": "op", "type": "string"},
    ],
}
BODY = {"topic": "shop.people", "key": ["id"]}
COLUMNS = [
    {"name": "id", "type": "int64", "nullable": False},
    {"name": "name", "type": "utf8", "nullable": True},
]
ROW = {"id": 1, "name": "ada"}


def write(data: Path, topic: str, *records: Any) -> None:
    writer = TopicWriter(data / "topics", topic)
    writer.append([orjson.dumps(record) for record in records])
    writer.close()


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    """A service with a topic whose record has a schema, and another without."""
    change = {"op": "c", "before": None, "after": ROW}
    write(tmp_path, "shop.people", {"schema": SCHEMA, "payload": change})
    write(tmp_path, "visits", {"at": "2026-01-01T10:00:00Z", "page": "/"})
    return make_runtime(tmp_path)


@pytest.fixture
def client(runtime: Runtime) -> Iterator[TestClient]:
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        yield client


@pytest.fixture
def listening(runtime: Runtime, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """The same, for the command line."""
    with served(runtime) as (_, port):
        monkeypatch.setenv("IVM_PORT", str(port))
        yield runtime


def run(*arguments: str, fails: bool = False) -> str:
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code != 0) == fails, result.output
    return result.stdout + (result.stderr if fails else "")


def test_a_source_without_columns_has_those_of_its_topic(client: TestClient) -> None:
    answer = client.put("/v1/sources/people", json=BODY)
    assert answer.status_code == 201
    assert answer.json()["columns"] == COLUMNS
    assert client.get("/v1/sources/people").json()["envelope"] == "debezium"


def test_what_was_found_is_as_if_declared_and_not_looked_for_again(
    client: TestClient, runtime: Runtime, tmp_path: Path
) -> None:
    assert client.put("/v1/sources/people", json=BODY).status_code == 201
    shutil.rmtree(tmp_path / "topics" / "shop.people")
    assert client.put("/v1/sources/people", json=BODY).status_code == 200
    declared = {**BODY, "envelope": "debezium", "columns": COLUMNS}
    assert client.put("/v1/sources/people", json=declared).status_code == 200


def test_a_restart_does_not_look_again(runtime: Runtime, tmp_path: Path) -> None:
    with TestClient(create_app(runtime)) as client:
        assert client.put("/v1/sources/people", json=BODY).status_code == 201
    shutil.rmtree(tmp_path / "topics" / "shop.people")
    again = runtime_on(tmp_path)
    assert again.sources.get("people").schema.names == ["id", "name"]


def test_a_dry_run_tells_the_columns_and_keeps_nothing(client: TestClient) -> None:
    answer = client.put("/v1/sources/people", json={**BODY, "dry_run": True}).json()
    assert (answer["would"], answer["columns"]) == ("create", COLUMNS)
    assert client.get("/v1/sources").json()["sources"] == []


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ({"topic": "visits"}, "file topic 'visits': its records have no schema"),
        ({"topic": "nothing"}, "file topic 'nothing': it has no record yet"),
        ({"topic": "shop.people"}, "file topic 'shop.people': key: no record names"),
        ({"topic": "../registry.json"}, "topic '../registry.json': not a usable name"),
        ({"connector": "http"}, "they are found in topics of files, or of a connection"),
        ({"connector": "kafka"}, "they are found in topics of files, or of a connection"),
        ({"connection": "main"}, "the settings have no connection 'main'"),
        ({**BODY, "columns": []}, "columns: they must be present and distinct"),
    ],
)
def test_what_cannot_be_found_is_to_be_declared(
    client: TestClient, body: dict[str, Any], message: str
) -> None:
    answer = client.put("/v1/sources/people", json=body)
    assert answer.status_code == 422
    assert message in answer.json()["detail"]


def test_a_proposal_is_taken_by_a_put_and_registers_nothing(
    client: TestClient, runtime: Runtime
) -> None:
    found = client.post("/v1/sources/infer", json={"topic": "visits"}).json()
    assert found["declaration"] == {
        "topic": "visits",
        "format": "json",
        "envelope": "append",
        "key": [],
        "columns": [
            {"name": "at", "type": "timestamp[us, tz=UTC]", "nullable": False},
            {"name": "page", "type": "utf8", "nullable": False},
        ],
    }
    assert len(found["unsure"]) == 1
    assert client.get("/v1/sources").json()["sources"] == []
    assert client.put("/v1/sources/visits", json=found["declaration"]).status_code == 201
    pipeline_of(runtime).step()
    answer = client.post("/v1/query", json={"query": "SELECT page FROM visits"})
    assert answer.json()["rows"] == [{"page": "/"}]


def test_a_proposal_is_applied_as_a_file(listening: Runtime, tmp_path: Path) -> None:
    proposed = run("source", "infer", "shop.people")
    folder = tmp_path / "definitions"
    folder.mkdir()
    (folder / "people.toml").write_text(proposed)
    assert proposed.startswith("# unsure: no record names the primary key; 'id' is taken")
    assert tomllib.loads(proposed)["columns"] == [
        {"name": "id", "type": "int64"},
        {"name": "name", "type": "utf8"},
    ]
    assert "1 to create" in run("apply", str(folder), "--yes")
    assert "1 unchanged" in run("apply", str(folder), "--yes")
    assert run("source", "create", "people", str(folder / "people.toml"))


def test_the_commands_of_the_page_declare_a_topic(listening: Runtime, tmp_path: Path) -> None:
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.M | re.S)
    here = re.sub("^ivm", f"{sys.executable} -m api", commands, flags=re.M)
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    bash = ["bash", "-euo", "pipefail", "-c", here]
    subprocess.run(bash, cwd=tmp_path, env=environment, check=True)
    assert [spec.name for spec in listening.sources.all()] == ["visits"]


def test_a_proposal_is_json_on_request(listening: Runtime) -> None:
    assert orjson.loads(run("source", "infer", "visits", "--json"))["envelope"] == "append"


def test_a_source_is_created_by_its_topic_alone(listening: Runtime) -> None:
    made = run("source", "create", "people", "--topic", "shop.people", "--key", "id", "--json")
    assert orjson.loads(made)["columns"] == COLUMNS


def test_a_folder_reads_a_source_whose_columns_only_the_service_finds(
    listening: Runtime, tmp_path: Path
) -> None:
    folder = tmp_path / "definitions"
    folder.mkdir()
    (folder / "people.toml").write_text('topic = "shop.people"\nkey = ["id"]\n')
    (folder / "names.sql").write_text("SELECT name FROM people")
    assert "2 to create" in run("apply", str(folder), "--yes")
    assert "2 unchanged" in run("apply", str(folder), "--yes")
    (folder / "visits.json").write_text("{}")
    assert "source 'visits': " in run("apply", str(folder), "--yes", fails=True)
