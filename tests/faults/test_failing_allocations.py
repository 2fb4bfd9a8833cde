"""Each allocation of an operation fails in turn, and the pool is as the operation promises then."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LINEAR = ("get", "join on a string", "texts", "map with errors", "delta join, triangle")
GROUPED = ("sums", "distinct", "min of strings", "top-k by string", "mixed aggregates")
LOOPS = ("reach", "shortest", "counting in a loop", "nested loops", "delta join in a loop")


@pytest.fixture(scope="session")
def shortage(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The library that makes allocations fail, built from its source."""
    library = tmp_path_factory.mktemp("faults") / "shortage.so"
    compiler = os.environ.get("CXX", "g++")
    flags = ["-std=c++17", "-O1", "-shared", "-fPIC", "-o", str(library)]
    subprocess.run([compiler, *flags, str(HERE / "shortage.cc"), "-ldl"], check=True)
    return library


@pytest.mark.parametrize(
    ("operation", "nodes"),
    [
        ("feed", ("get",)),
        ("advance", LINEAR),
        ("advance", GROUPED),
        ("advance", LOOPS),
        ("install", LINEAR),
        ("install", GROUPED),
        ("install", LOOPS),
        ("drain", ("get", "join on a string", "map with errors")),
        ("scan", ("get", "join on a string", "texts")),
    ],
)
def test_a_failing_allocation_is_an_error_and_the_pool_keeps_its_word(
    shortage: Path, operation: str, nodes: tuple[str, ...]
) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.faults.sweep", operation, *nodes],
        cwd=ROOT,
        env=os.environ | {"LD_PRELOAD": str(shortage)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    failures = [int(line.split()[0]) for line in done.stdout.splitlines()]
    assert len(failures) == len(nodes)
    assert all(failures), done.stdout
