"""What is shipped and installed: the four packages, and dependencies pinned to their hashes."""

import re
import tomllib
from pathlib import Path

import pytest
from setuptools import Distribution
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parents[2]
ROOMS = {"api", "connectors", "ivm", "views"}

pytestmark = pytest.mark.filterwarnings("ignore:.*experimental:UserWarning")

with (ROOT / "pyproject.toml").open("rb") as file:
    PROJECT = tomllib.load(file)["project"]
LOCK = (ROOT / "requirements.lock").read_text()


@pytest.fixture(scope="module")
def distribution() -> Distribution:
    described = Distribution({"src_root": str(ROOT)})
    described.parse_config_files([str(ROOT / "pyproject.toml")])
    return described


def test_the_wheel_holds_the_four_rooms_only(distribution: Distribution) -> None:
    names = [*distribution.packages, *(module.name for module in distribution.ext_modules)]
    assert {name.split(".")[0] for name in names} == ROOMS


def test_the_wheel_holds_every_python_file_of_the_rooms(distribution: Distribution) -> None:
    folders = {path.parent for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    assert set(distribution.packages) == {
        str(folder.relative_to(ROOT)).replace("/", ".") for folder in folders
    }


def test_the_wheel_tells_type_checkers_of_its_types(
    distribution: Distribution, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    command = build_py(distribution)
    command.finalize_options()
    shipped = {f"{package}/{name}" for package, _, _, names in command.data_files for name in names}
    assert {f"{room}/py.typed" for room in ROOMS} <= shipped


def test_every_dependency_is_pinned_in_the_lock() -> None:
    declared = [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]
    locked = {line.split(" ")[0].rstrip("\\ ") for line in LOCK.splitlines() if "==" in line}
    assert set(declared) <= locked


def test_every_entry_of_the_lock_has_hashes() -> None:
    entries = re.split(r"\n(?=\w)", re.sub(r"^#.*\n", "", LOCK, flags=re.M))
    assert all("--hash=sha256:" in entry for entry in entries)


def test_the_lock_names_no_host() -> None:
    assert "://" not in LOCK
