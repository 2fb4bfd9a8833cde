"""The client is a distribution of its own, and imports none of the other packages."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The client's wheel, built of its folder alone."""
    place = tmp_path_factory.mktemp("client")
    shutil.copytree(ROOT / "ivm_client", place / "source")
    options = ["--quiet", "--no-deps", "--no-index", "--no-build-isolation"]
    build = [sys.executable, "-m", "pip", "wheel", *options, "--wheel-dir", str(place)]
    subprocess.run([*build, str(place / "source")], check=True)
    [found] = place.glob("*.whl")
    return found


def test_the_wheel_holds_the_client_alone(wheel: Path) -> None:
    names = {Path(name) for name in ZipFile(wheel).namelist()}
    modules = {path.name for path in names if path.parts[0] == "ivm_client"}
    assert modules == {path.name for path in (ROOT / "ivm_client").glob("*.py")} | {"py.typed"}
    assert {path.parts[0] for path in names} == {"ivm_client", "ivm_client-0.1.0.dist-info"}


def test_the_client_loads_neither_spark_nor_the_engine(wheel: Path) -> None:
    program = (
        f"import sys; sys.path.insert(0, {str(wheel)!r}); import ivm_client; "
        "print(ivm_client.__file__); print(sorted({'pyspark', 'ivm', 'api'} & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        cwd=wheel.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    place, loaded = ran.stdout.splitlines()
    assert place.startswith(str(wheel))
    assert loaded == "[]"
