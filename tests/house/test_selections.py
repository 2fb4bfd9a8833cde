"""Every test is of one command; a test is marked with the servers that it runs."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def arguments(target: str) -> list[str]:
    """What `make` gives to pytest for this target."""
    command = ["make", "--dry-run", "--always-make", target]
    printed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    (line,) = re.findall(r"-m pytest (.*)", printed.replace("\\\n", " "))
    return str(line).split()


def collected(*options: str, folder: Path) -> list[str]:
    """The names of the tests that pytest would run, in their order."""
    finished = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--collect-only", *options, str(folder)],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
    )
    return re.findall(r"::test_(\w+)", finished.stdout)


def test_the_tests_are_divided_between_three_commands() -> None:
    faults, containers = (
        [word for word in arguments(target) if word.startswith("tests")]
        for target in ("faults", "containers")
    )
    others = [word for word in arguments("test") if "tests" in word]
    assert others == [f"--ignore={path}" for path in (*faults, *containers)]


@pytest.mark.parametrize("target", ["quick", "faults", "containers", "checked", "races"])
def test_what_a_command_runs_is_there(target: str) -> None:
    paths = [word.split("::")[0] for word in arguments(target) if word.startswith("tests")]
    assert paths
    assert all((ROOT / path).exists() for path in paths)


def test_a_test_is_marked_with_the_servers_that_its_fixtures_run(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    (tmp_path / "test_it.py").write_text(
        "def test_kafka(kafka): ...\ndef test_judge(judge): ...\ndef test_neither(): ...\n"
    )
    assert collected("-m", "broker", folder=tmp_path) == ["kafka"]
    assert collected("-m", "jvm", folder=tmp_path) == ["kafka"]
    assert collected("-m", "postgres", folder=tmp_path) == ["judge"]


def test_files_of_one_stack_are_run_together_and_short_files_last(tmp_path: Path) -> None:
    shutil.copy(ROOT / "tests" / "conftest.py", tmp_path)
    for name, text in {
        "test_a.py": "def test_a(): ...\n",
        "test_b.py": "def test_b(): ...\ndef test_c(): ...\n",
        "tests/e2e/kafka/test_d.py": "def test_d(kafka): ...\n",
        "test_e.py": "def test_e(kafka): ...\ndef test_f(kafka): ...\n",
        "tests/e2e/kafka/test_g.py": "def test_g(): ...\ndef test_h(): ...\n",
    }.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    assert "".join(collected(folder=tmp_path)) == "dghefbca"
