"""What is shipped and installed: the five packages, and dependencies pinned to their hashes."""

import re
import tomllib
from pathlib import Path
from runpy import run_path

import pytest
from setuptools import Distribution
from setuptools.command.build_py import build_py

ROOT = Path(__file__).parents[2]
ROOMS = {"api", "connectors", "ivm", "ivm_client", "views"}
DEMOS = {"demo", "mentions"}

pytestmark = pytest.mark.filterwarnings("ignore:.*experimental:UserWarning")

with (ROOT / "pyproject.toml").open("rb") as file:
    DESCRIBED = tomllib.load(file)
# A lock has no extras.
NEEDED = {re.sub(r"\[.*?\]", "", each) for each in DESCRIBED["project"]["dependencies"]}
GROUPS = DESCRIBED["dependency-groups"]
FOR_BUILDING = set(GROUPS["build"])
FOR_DEVELOPING = {each for each in GROUPS["dev"] if isinstance(each, str)}
LOCKS = {
    name: (ROOT / name).read_text()
    for name in ("requirements.lock", ".ci/build.lock", ".ci/dev.lock")
}


def entries(lock: str) -> list[str]:
    """Each package of a lock, with its hashes."""
    return re.split(r"\n(?=\w)", LOCKS[lock])


def pins(lock: str) -> set[str]:
    """The packages of a lock, as `name==version`."""
    return {entry.split()[0] for entry in entries(lock)}


@pytest.fixture(scope="module")
def distribution() -> Distribution:
    described = Distribution({"src_root": str(ROOT)})
    described.parse_config_files([str(ROOT / "pyproject.toml")])
    return described


def test_the_wheel_holds_the_five_rooms_only(
    distribution: Distribution, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    extensions = run_path(str(ROOT / "setup.py"))["EXTENSIONS"]
    names = [*distribution.packages, *(extension.name for extension in extensions)]
    assert {name.split(".")[0] for name in names} == ROOMS


def test_the_wheel_holds_every_python_file_but_the_demos(
    distribution: Distribution,
) -> None:
    folders = {path.parent for room in ROOMS for path in (ROOT / room).rglob("*.py")}
    folders -= {ROOT / "api" / name for name in DEMOS}
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


def test_a_lock_pins_all_that_it_is_for() -> None:
    assert pins("requirements.lock") >= NEEDED
    assert FOR_BUILDING == pins(".ci/build.lock") == set(DESCRIBED["build-system"]["requires"])
    assert pins(".ci/dev.lock") >= NEEDED | FOR_BUILDING | FOR_DEVELOPING


def test_what_users_install_is_what_the_tests_run_with_and_holds_no_tool_of_development() -> None:
    assert pins("requirements.lock") < pins(".ci/dev.lock")
    tools = pins("requirements.lock") & (FOR_BUILDING | FOR_DEVELOPING)
    # The compiler of Protobuf's schemas requires the one, the console's server the other.
    assert {tool.split("==")[0] for tool in tools} == {"setuptools", "pyyaml"}


@pytest.mark.parametrize("lock", LOCKS)
def test_every_entry_of_a_lock_has_hashes(lock: str) -> None:
    assert all("--hash=sha256:" in entry for entry in entries(lock))


@pytest.mark.parametrize("lock", LOCKS)
def test_a_lock_names_no_host(lock: str) -> None:
    assert "://" not in LOCKS[lock]


def test_what_is_shipped_imports_nothing_that_only_developing_installs() -> None:
    tools = {each.split("==")[0].replace("-", "_") for each in FOR_DEVELOPING}
    shipped = [p for room in ROOMS for p in (ROOT / room).rglob("*.py") if not DEMOS & set(p.parts)]
    imported = re.compile(r"^(?:import|from) (\w+)", re.M)
    assert {path for path in shipped if tools & set(imported.findall(path.read_text()))} == set()
