"""The command line, against a port where nothing answers, and its own help."""

import pytest
from typer.testing import CliRunner

from api.cli import app
from api.client import path


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
        ["view", "show", "totals"],
        ["view", "create", "totals", "SELECT 1"],
        ["view", "drop", "totals"],
        ["source", "list"],
        ["explain", "SELECT 1"],
    ],
)
def test_a_service_that_does_not_answer_is_told_in_a_line(
    nowhere: None, arguments: list[str]
) -> None:
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 1
    assert "ivm serve" in result.output


def test_a_query_is_read_from_a_file_that_must_exist(nowhere: None) -> None:
    result = CliRunner().invoke(app, ["explain", "@/nowhere.sql"])
    assert result.exit_code == 1
    assert "/nowhere.sql" in result.output


def test_a_demo_too_small_to_mean_anything_is_refused() -> None:
    assert CliRunner().invoke(app, ["demo", "--changes", "10"]).exit_code == 2
