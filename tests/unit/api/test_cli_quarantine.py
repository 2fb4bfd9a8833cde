"""`ivm quarantine` against a service that listens."""

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
from tests.unit.api.decoding import DecodingPipeline
from tests.unit.api.test_quarantine import PEOPLE, make_runtime
from tests.unit.connectors.records import insert

BAD = ["people", "0", "1"]


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[DecodingPipeline]:
    """The pipeline of a service that listens, once it has put the record at offset 1 aside."""
    runtime = make_runtime(tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        monkeypatch.setenv("IVM_PORT", str(listening.getsockname()[1]))
        uvicorn_server = server(create_app(runtime))
        serving = threading.Thread(target=uvicorn_server.run, args=([listening],))
        serving.start()
        runtime.readiness.wait()
        pipeline = cast(DecodingPipeline, cast(Any, runtime.pipeline))
        spec = tmp_path / "people.json"
        spec.write_text(json.dumps(PEOPLE))
        run("source", "create", "people", str(spec))
        pipeline.write("people", insert(1), b"{b\xe9d", insert(3))
        yield pipeline
        uvicorn_server.should_exit = True
        serving.join()


def run(*arguments: str, fails: bool = False) -> str:
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code != 0) == fails, result.output
    return result.output


def status() -> Any:
    return json.loads(run("quarantine", "show", *BAD, "--json"))["status"]


def test_records_are_listed_readably(pipeline: DecodingPipeline) -> None:
    listed = run("quarantine", "list", "--table", "people")
    for part in ("people", "open", "not-json", "{b\\xe9d"):
        assert part in listed
    assert json.loads(run("quarantine", "list", "--json"))["records"][0]["offset"] == 1
    assert "not-json" not in run("quarantine", "list", "--status", "discarded")


def test_a_record_is_shown(pipeline: DecodingPipeline) -> None:
    shown = run("quarantine", "show", *BAD)
    for part in ("topic people", "offset 1", "reason not-json", "value {b\\xe9d", "key (none)"):
        assert part in shown


def test_a_value_is_shown_whole_and_as_it_is(pipeline: DecodingPipeline) -> None:
    value = '{":bug:": "[bold]' + "x " * 200 + '"'
    run("quarantine", "fix", *BAD, "--value", value)
    assert f"repaired value {value}" in run("quarantine", "show", *BAD).splitlines()


def test_a_record_is_fixed_by_a_file_and_replayed(
    pipeline: DecodingPipeline, tmp_path: Path
) -> None:
    repaired = tmp_path / "repaired"
    repaired.write_bytes(insert(2))
    run("quarantine", "fix", *BAD, "--value", f"@{repaired}")
    assert f"repaired value {insert(2).decode()}" in run("quarantine", "show", *BAD).replace(
        "\n", ""
    )
    assert "applied at time 2" in run("quarantine", "replay", *BAD)
    assert status() == "replayed"


def test_fixing_and_replaying_is_one_command(pipeline: DecodingPipeline) -> None:
    given = ["--value", insert(2).decode(), "--replay"]
    assert "applied at time 2" in run("quarantine", "fix", *BAD, *given)


def test_all_records_of_a_table_are_replayed_and_the_refused_are_named(
    pipeline: DecodingPipeline,
) -> None:
    pipeline.write("people", b"{bad")
    run("quarantine", "fix", *BAD, "--value", insert(2).decode())
    told = run("quarantine", "replay", "people", fails=True)
    assert "1 applied, 1 refused" in told
    assert "still-rejected" in told
    assert status() == "replayed"


def test_a_record_is_discarded_and_opened_again(pipeline: DecodingPipeline) -> None:
    run("quarantine", "discard", *BAD)
    assert status() == "discarded"
    run("quarantine", "fix", *BAD, "--original")
    assert status() == "open"


def test_a_record_that_stalls_is_skipped(pipeline: DecodingPipeline) -> None:
    pipeline.set_on_error("people", "stall")
    pipeline.write("people", b"{bad", insert(5))
    run("quarantine", "skip", "people", "0", "3")
    assert pipeline.status().state == "running"
    assert json.loads(run("quarantine", "show", "people", "0", "3", "--json"))["status"] == "open"


@pytest.mark.parametrize(
    "arguments",
    [
        ["fix", *BAD],
        ["fix", *BAD, "--original", "--value", "x"],
        ["fix", *BAD, "--no-value", "--value", "x"],
        ["replay", "people", "0"],
    ],
)
def test_options_that_contradict_one_another_are_refused(arguments: list[str]) -> None:
    assert CliRunner().invoke(app, ["quarantine", *arguments]).exit_code == 2


def test_records_are_purged_once_no_start_needs_them(pipeline: DecodingPipeline) -> None:
    run("quarantine", "discard", *BAD)
    assert "0 purged" in run("quarantine", "purge", "--table", "people")
    run("source", "drop", "people")
    found = run("quarantine", "purge", "--status", "discarded", "--status", "orphaned", "--json")
    assert json.loads(found) == {"purged": 1}
