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
WINDOWS = ("totals", "frames without their row or its peers", "lists", "values that are not NULL")
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
        ("feed few", ("get",)),
        ("advance", LINEAR),
        ("advance", GROUPED),
        ("advance", WINDOWS),
        ("advance", LOOPS),
        ("create", ("get",)),
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
    printed = _run(shortage, "tests.faults.sweep", operation, *nodes)
    failures = [int(line.split()[0]) for line in printed]
    assert len(failures) == len(nodes)
    assert all(failures), printed


@pytest.mark.parametrize("call", ["deal", "deal few"])
def test_that_memory_is_short_while_rows_are_dealt_out_is_told(shortage: Path, call: str) -> None:
    assert "no memory to exchange updates" in _told(shortage, call)


@pytest.mark.parametrize("call", ["feed", "feed what is bare", "feed beside what is bare"])
def test_that_memory_is_short_while_threads_queue_rows_is_told(shortage: Path, call: str) -> None:
    assert set(_told(shortage, call)) == {"input 'pairs': no memory"}


def test_a_step_names_the_arrangement_for_which_threads_could_not_exchange_rows(
    shortage: Path,
) -> None:
    wanted = "a step did not complete: pairs[a]: no memory to exchange updates"
    assert wanted in _told(shortage, "advance")


@pytest.mark.parametrize(
    "call",
    [
        "build",
        "build of several times",
        "build together",
        "build few together",
        "build together of several times",
        "build bare",
        "build few bare",
        "build bare together",
        "build ascending together",
    ],
)
def test_that_memory_is_short_for_a_batch_of_many_rows_is_told(shortage: Path, call: str) -> None:
    assert _told(shortage, call).count("no memory for a batch of an arrangement") > 2


@pytest.mark.parametrize("call", ["merge", "merge of several times"])
def test_that_memory_is_short_for_a_merge_is_told(shortage: Path, call: str) -> None:
    assert "no memory for a batch of an arrangement" in _told(shortage, call)


def test_that_memory_is_short_for_any_part_of_a_decoded_column_is_told(shortage: Path) -> None:
    columns, buffers = 2, 2 + 3  # validity and numbers; validity, offsets and texts
    assert _told(shortage, "decode").count("no memory for a column") == columns + buffers


def _told(shortage: Path, call: str) -> list[str]:
    """What was told when each allocation of a call had failed."""
    return _run(shortage, "tests.faults.telling", call)


def _run(shortage: Path, module: str, *arguments: str) -> list[str]:
    """The lines that a module prints which makes allocations fail."""
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT,
        env=os.environ | {"LD_PRELOAD": str(shortage)},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()
