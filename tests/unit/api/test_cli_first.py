"""`ivm init`, `ivm apply` and `ivm top`, as one who begins runs them."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from api.cli.main import app
from tests.unit.api.filed import FilePipeline, make_runtime, pipeline_of
from tests.unit.api.listening import served


@pytest.fixture
def pipeline(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FilePipeline]:
    """The pipeline of a service that listens and has nothing declared."""
    runtime = make_runtime(tmp_path / "data")
    with served(runtime) as (_, port):
        monkeypatch.setenv("IVM_PORT", str(port))
        yield pipeline_of(runtime)


def run(*arguments: str, fails: bool = False) -> str:
    result = CliRunner().invoke(app, arguments)
    assert (result.exit_code != 0) == fails, result.output
    return result.output


def test_the_folder_of_init_is_applied_and_its_views_have_rows(
    pipeline: FilePipeline, tmp_path: Path
) -> None:
    folder = str(tmp_path / "first")
    assert f"ivm apply {folder}" in run("init", folder)
    assert "3 to create" in run("apply", folder, "--yes")
    run("source", "write", "visits", f"{folder}/_visits.ndjson")
    pipeline.step()
    assert "/prices" in run("view", "rows", "by_page")
    assert "/prices" not in run("view", "rows", "favourites")
    assert "3 unchanged" in run("apply", folder, "--yes")


def test_init_writes_over_nothing(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("")
    assert "is not empty" in run("init", str(tmp_path), fails=True)
    assert [file.name for file in tmp_path.iterdir()] == ["mine"]


def test_top_shows_sources_and_views(pipeline: FilePipeline, tmp_path: Path) -> None:
    folder = str(tmp_path / "first")
    run("init", folder)
    run("apply", folder, "--yes")
    run("source", "write", "visits", f"{folder}/_visits.ndjson")
    waiting = run("top", "-n", "1")
    pipeline.step()
    after = run("top", "-n", "2", "--interval", "0.05")
    assert [line.split()[:3] for line in waiting.splitlines() if "visits" in line] == [
        ["visits", "running", "3"]
    ]
    assert [line.split()[:2] for line in after.splitlines() if "by_page" in line][-1] == [
        "by_page",
        "running",
    ]
    assert "MiB in arrangements" in after
