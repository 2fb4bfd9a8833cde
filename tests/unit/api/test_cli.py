"""The command line, against a port where nothing answers, and its own help."""

import socket
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.main import app
from api.terminal import print_table
from ivm_client.service import path


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch) -> None:
    """No service listens on the discard port."""
    monkeypatch.setenv("IVM_PORT", "9")


def test_a_name_is_one_part_of_a_path_whatever_stands_in_it() -> None:
    assert path("views", "revenue#old") == "/v1/views/revenue%23old"
    assert path("sources", "../views/revenue") == "/v1/sources/..%2Fviews%2Frevenue"


@pytest.mark.parametrize(
    "arguments",
    [
        ["view", "list"],
        ["view", "list", "--json"],
        ["status", "--wait", "0"],
        ["view", "show", "totals"],
        ["view", "create", "totals", "SELECT 1"],
        ["view", "drop", "totals"],
        ["source", "list"],
        ["program", "create", "bfs"],
        ["explain", "SELECT 1"],
    ],
)
def test_a_service_that_does_not_answer_is_told_in_a_line(
    nowhere: None, arguments: list[str]
) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 3
    assert "ivm serve" in result.stderr
    assert result.stdout == ""


def test_a_query_is_read_from_a_file_that_must_exist(nowhere: None) -> None:
    result = CliRunner().invoke(app, ["explain", "@/nowhere.sql"])
    assert result.exit_code == 1
    assert "/nowhere.sql" in result.output


@pytest.mark.parametrize("command", [["explain", "@{}"], ["source", "create", "s", "{}"]])
def test_a_file_that_cannot_be_read_is_named(
    nowhere: None, tmp_path: Path, command: list[str]
) -> None:
    file = tmp_path / "a.file"
    file.write_bytes(b"\xff")
    result = CliRunner().invoke(app, [part.format(file) for part in command])
    assert result.exit_code == 1
    assert f"{file}: " in result.output


def test_names_in_a_table_are_whole(capsys: pytest.CaptureFixture[str]) -> None:
    print_table([{"name": "n" * 200, "reason": "r" * 200}], ("name", "reason"))
    shown = capsys.readouterr().out
    assert (shown.count("n"), shown.count("r")) == (200 + 2, 200 + 1)


def test_settings_that_are_wrong_are_told_in_a_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("IVM_PORT", "none")
    monkeypatch.setenv("IVM_SERVICE", "a b")
    shown = CliRunner().invoke(app, ["serve"]).output
    assert shown.count("\n") == 1
    assert "settings: " in shown
    assert "service: " in shown
    assert "port: " in shown


def test_a_service_that_cannot_listen_starts_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("IVM_DATA", str(tmp_path / "data"))
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("IVM_PORT", str(taken.getsockname()[1]))
        result = CliRunner().invoke(app, ["serve"])
    assert (result.exit_code, "in use" in result.output) == (1, True)
    monkeypatch.setenv("IVM_HOST", "no.such.host.invalid")
    assert "'no.such.host.invalid'" in CliRunner().invoke(app, ["serve"]).output
    assert not (tmp_path / "data").exists()


def test_a_demo_too_small_to_mean_anything_is_refused() -> None:
    assert CliRunner().invoke(app, ["demo", "--changes", "10"]).exit_code == 2


def test_a_program_is_shown_over_the_tables_that_are_named() -> None:
    shown = CliRunner().invoke(
        app, ["program", "show", "bfs", "--on", "edges=follows,src=follower", "--set", "node=text"]
    )
    assert shown.exit_code == 0
    assert "WITH edges AS (SELECT follower AS src, dst FROM follows)" in shown.output
    assert "distance (node text, steps bigint)" in shown.output


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["bsf"], "did you mean 'bfs'"),
        (["bfs", "--on", "edge=follows"], "it has edges, roots"),
        (["bfs", "--on", "edges=follows,source=a"], "it has src, dst"),
        (["bfs", "--set", "nodes=text"], "it has node"),
        (["bfs", "--set", "node=1); DROP"], "neither a number nor the name of a type"),
    ],
)
def test_a_program_that_cannot_be_shown_is_told_in_a_line(arguments: list[str], told: str) -> None:
    shown = CliRunner().invoke(app, ["program", "show", *arguments])
    assert shown.exit_code == 1
    assert told in shown.output
