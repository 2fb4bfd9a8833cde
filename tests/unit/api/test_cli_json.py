"""`--json` of every command that prints something; exit codes; what a service tells of itself."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from api.cli.main import app
from api.runtime import Runtime
from tests.unit.api.filed import make_runtime, pipeline_of, write_rows
from tests.unit.api.listening import served

SPENT = "SELECT customer, sum(amount) AS total FROM orders GROUP BY customer"
COLUMNS = ["--column", "id bigint", "--column", "customer text", "--column", "amount bigint"]
# Those that serve, or say nothing where they have done what they were to.
SILENT = {
    "ivm quarantine discard",
    "ivm quarantine skip",
    "ivm serve",
    "ivm source drop",
    "ivm view discard",
    "ivm view drop",
}


def commands(command: Any, context: typer.Context) -> Iterator[tuple[str, set[str]]]:
    """Each command by its words, with its options."""
    if hasattr(command, "list_commands"):
        for name in command.list_commands(context):
            found = command.get_command(context, name)
            yield from commands(found, typer.Context(found, context, name))
    else:
        yield context.command_path, {option for one in command.params for option in one.opts}


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Runtime]:
    """A service that listens, with a table of two rows and a view."""
    runtime = make_runtime(tmp_path / "data")
    with served(runtime) as (_, port):
        monkeypatch.setenv("IVM_PORT", str(port))
        run("source", "create", "orders", *COLUMNS, "--key", "id")
        run("view", "create", "spent", SPENT)
        rows = tmp_path / "rows.csv"
        rows.write_text("id,customer,amount\n1,ada,7\n2,bob,5\n")
        run("source", "write", "orders", str(rows))
        pipeline_of(runtime).step()
        yield runtime


def run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == code, result.output
    return result.stdout


def test_every_command_that_prints_something_has_json() -> None:
    root = get_command(app)
    found = dict(commands(root, typer.Context(root, info_name="ivm")))
    assert {name for name, options in found.items() if "--json" not in options} == SILENT


@pytest.mark.usefixtures("runtime")
@pytest.mark.parametrize(
    ("command", "member"),
    [
        (["view", "list"], "views"),
        (["view", "show", "spent"], "arrangements"),
        (["view", "create", "spent", SPENT], "deltas"),
        (["view", "create", "other", SPENT, "--dry-run"], "would"),
        (["view", "retry", "spent"], "status"),
        (["view", "operators", "spent"], "operators"),
        (["source", "list"], "sources"),
        (["source", "show", "orders"], "lag"),
        (["source", "create", "orders", *COLUMNS, "--key", "id", "--dry-run"], "would"),
        (["explain", SPENT], "stages"),
        (["query", SPENT], "rows"),
        (["quarantine", "list"], "records"),
        (["program", "list"], "programs"),
        (["program", "show", "bfs"], "query"),
        (["status"], "time"),
        (["errors"], "errors"),
        (["arrangements"], "arrangements"),
        (["top", "-n", "1"], "views"),
    ],
)
def test_json_is_all_that_is_written(command: list[str], member: str) -> None:
    assert member in json.loads(run(*command, "--json"))
    assert run(*command)


@pytest.mark.usefixtures("runtime")
def test_an_answer_for_people_has_a_member_on_each_line() -> None:
    shown = dict(line.split(" ", 1) for line in run("view", "show", "spent").splitlines())
    assert shown["columns"] == "customer utf8, total decimal128(38, 0)"
    assert (shown["reads"], shown["status"]) == ("orders", "running")


def test_rows_wait_for_what_was_written(runtime: Runtime) -> None:
    assert "ada" in run("view", "rows", "spent", "--at-least", "orders:0:1")


@pytest.mark.usefixtures("runtime")
def test_rows_of_a_value_are_followed_from_a_time_on() -> None:
    shown = run("view", "tail", "spent", "customer=bob", "--since", "0", "--changes", "1", "--json")
    assert json.loads(shown)["row"] == {"customer": "bob", "total": "5"}


@pytest.mark.usefixtures("runtime")
def test_exit_codes_tell_a_refusal_from_a_fault_of_writing_and_from_silence(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert run("view", "show", "nothing", code=1) == ""
    assert run("view", "show", code=2) == ""
    monkeypatch.setenv("IVM_PORT", "9")
    assert run("view", "list", code=3) == ""


def test_a_service_that_catches_up_is_waited_for(runtime: Runtime, tmp_path: Path) -> None:
    assert json.loads(run("status", "--wait", "30", "--json"))["status"] == "ready"
    declared = tmp_path / "late.json"
    declared.write_text(
        '{"columns": [{"name": "id", "type": "bigint"}], "key": ["id"], "replica_identity": "full"}'
    )
    write_rows(tmp_path / "data", "late", ({"id": 1}, 1), ({"id": 2}, 1))
    run("source", "create", "late", str(declared))
    found = json.loads(run("status", "--wait", "0.3", "--json", code=1))
    (fault,) = found["faults"]
    assert (fault["part"], fault["done"], fault["of"]) == ("source late", 0, 2)
    assert "source late" in run("status", code=1)
    pipeline_of(runtime).step()
    assert "ready" in run("status")
