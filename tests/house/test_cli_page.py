"""docs/cli.md: its commands are all that there are, and its walk succeeds line by line."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from typer.main import get_command
from typer.testing import CliRunner

from api.cli.main import app
from tests.unit.api.filed import close_all, make_runtime, pipeline_of
from tests.unit.api.listening import served
from tests.unit.api.test_cli_json import commands

PAGE = (Path(__file__).parents[2] / "docs" / "cli.md").read_text()
WALK = [
    line
    for block in re.findall(r"^```sh\n(.*?)^```$", PAGE, re.M | re.S)
    for line in block.splitlines()
]
# The wheel leaves them out.
DEMOS = {"ivm demo", "ivm mentions"}


def test_the_table_has_every_command() -> None:
    table = PAGE[PAGE.index("## Commands") : PAGE.index("## For scripts")]
    root = get_command(app)
    there = {name for name, _ in commands(root, typer.Context(root, info_name="ivm"))}
    assert set(re.findall(r"`(ivm [a-z ]+)`", table)) == there - DEMOS


def test_the_walk_succeeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    runtime = make_runtime(tmp_path / "data")
    with served(runtime) as (_, port):
        monkeypatch.setenv("IVM_PORT", str(port))
        for line in WALK:
            result = CliRunner().invoke(app, shlex.split(line)[1:])
            assert result.exit_code == 0, f"{line}\n{result.output}"
            pipeline_of(runtime).step()
    close_all()
