"""Packages with plain names are not hidden by a user's files, and the command line is installed."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).parent / "ivm"


def run(directory: Path, *command: str | Path) -> subprocess.CompletedProcess[str]:
    """A command called in this directory, as beside an installed wheel."""
    # A test of Spark in the same process has told its Pythons not to look where they are called.
    environment = os.environ | {"PYTHONPATH": str(ROOT), "PYTHONSAFEPATH": ""}
    return subprocess.run(command, cwd=directory, env=environment, capture_output=True, text=True)


@pytest.mark.parametrize("package", ["connectors", "ivm", "views"])
def test_a_file_that_hides_a_package_is_named_with_what_to_do(tmp_path: Path, package: str) -> None:
    hiding = tmp_path / f"{package}.py"
    hiding.touch()
    finished = run(tmp_path, sys.executable, "-m", "api", "--help")
    assert finished.returncode == 1
    told = finished.stderr.splitlines()[-1]
    assert str(hiding) in told
    assert f"hides the package '{package}'" in told
    assert "rename it" in told


def test_the_command_line_is_not_disturbed_by_such_files(tmp_path: Path) -> None:
    for package in ("api", "connectors", "ivm", "ivm_client", "views"):
        (tmp_path / f"{package}.py").write_text("raise SystemExit('the wrong file')")
    finished = run(tmp_path, COMMAND, "doctor", "--help")
    assert finished.returncode == 0, finished.stderr
