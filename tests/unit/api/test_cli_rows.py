"""`ivm query`, `view rows`, `view tail` and `source write` against a service that listens."""

import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from typer.testing import CliRunner

from api.app import create_app
from api.cli.main import app
from api.serve import server
from ivm_client.service import ServiceClient
from tests.unit.api.conftest import ORDERS, TOTALS, make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DirectPipeline]:
    """The pipeline of a service that listens and has two orders of ada."""
    runtime = make_runtime(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        monkeypatch.setenv("IVM_PORT", str(port))
        uvicorn_server = server(create_app(runtime))
        serving = threading.Thread(target=uvicorn_server.run, args=([listening],))
        serving.start()
        runtime.readiness.wait()
        service = ServiceClient(f"http://127.0.0.1:{port}")
        service.put("/v1/sources/orders", ORDERS)
        service.put("/v1/views/totals", TOTALS)
        service.close()
        pipeline = cast(DirectPipeline, cast(Any, runtime.pipeline))
        pipeline.deliver("orders", (order(1, "ada", "12.50"), 1), (order(2, "ada", "30"), 1))
        yield pipeline
        uvicorn_server.should_exit = True
        serving.join()


def run(*arguments: str, fails: bool = False) -> str:
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code != 0) == fails, result.output
    return result.output


def lines(output: str) -> list[Any]:
    return [json.loads(line) for line in output.splitlines()]


@pytest.mark.usefixtures("pipeline")
def test_a_query_is_a_table_or_what_its_format_says() -> None:
    query = "SELECT id, amount FROM orders ORDER BY id DESC"
    assert "30.00" in run("query", query)
    assert run("query", query, "--format", "csv").split() == ["id,amount", "2,30.00", "1,12.50"]
    assert [row["id"] for row in lines(run("query", query, "--format", "ndjson"))] == [2, 1]
    assert "more than 1" in run("query", query, "--limit", "1")


@pytest.mark.usefixtures("pipeline")
def test_rows_are_found_by_their_values() -> None:
    found = [{"customer": "ada", "orders": 2, "total": "42.50"}]
    assert lines(run("view", "rows", "totals", "customer=ada", "--json")) == found
    assert lines(run("view", "rows", "totals", "orders=2", "--scan", "--json")) == found
    assert "ada" in run("view", "rows", "totals")
    assert run("view", "rows", "totals", "customer=eve", "--json") == ""


@pytest.mark.usefixtures("pipeline")
def test_a_view_that_there_is_not_is_told_in_a_line() -> None:
    for command in ("rows", "tail"):
        assert "unknown-name" in run("view", command, "total", fails=True)
    assert "COLUMN=VALUE" in run("view", "rows", "totals", "ada", fails=True)


def test_a_view_is_followed_from_its_rows_on(pipeline: DirectPipeline) -> None:
    later = threading.Timer(0.5, pipeline.deliver, ("orders", (order(3, "ada", "7.50"), 1)))
    later.start()
    followed = lines(run("view", "tail", "totals", "--changes", "3", "--json"))
    later.join()
    assert [(line["op"], line["row"]["total"]) for line in followed] == [
        ("=", "42.50"),
        ("-", "42.50"),
        ("+", "50.00"),
    ]


@pytest.mark.usefixtures("pipeline")
def test_a_table_is_declared_by_columns_and_written_from_files(tmp_path: Path) -> None:
    columns = ["--column", "id bigint", "--column", "name text", "--column", "n numeric(12, 2)"]
    run("source", "create", "guests", *columns, "--key", "id")
    rows = tmp_path / "rows.csv"
    rows.write_text("id,name\n1,ada\n2,bob\n")
    assert "2 rows written; look-ups wait for at_least=guests:0:1" in run(
        "source", "write", "guests", str(rows)
    )
    changes = tmp_path / "changes.ndjson"
    changes.write_text('{"delete":{"id":1}}\n')
    output = run("source", "write", "guests", str(changes), "--changes", "--json")
    assert json.loads(output)["offsets"] == {"0": 3}


@pytest.mark.usefixtures("pipeline")
@pytest.mark.parametrize("form", ["csv", "ndjson"])
def test_many_lines_are_written_in_several_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr("api.cli.writing.REQUEST_BYTES", 40)
    run("source", "create", "guests", "--column", "id bigint", "--key", "id")
    file = tmp_path / f"rows.{form}"
    made = {"csv": ["id", *map(str, range(50))], "ndjson": [f'{{"id":{n}}}' for n in range(50)]}
    file.write_text("\n".join(made[form]) + "\n")
    assert "50 rows written" in run("source", "write", "guests", str(file))


@pytest.mark.parametrize("arguments", [[], ["a.json", "--column", "id bigint"], ["--key", "id"]])
@pytest.mark.usefixtures("pipeline")
def test_a_table_is_declared_in_one_way(arguments: list[str]) -> None:
    assert "give a FILE" in run("source", "create", "guests", *arguments, fails=True)
