"""A quarantined record that is repaired takes effect once, wherever its replay is killed."""

import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import orjson
import pytest

from connectors.files.reader import TopicReader
from connectors.files.writer import TopicWriter
from connectors.quarantine.store import Quarantine
from tests.faults.correcting import POINTS
from tests.unit.connectors.records import insert

RECORDS = 80
BAD = range(1, RECORDS, 2)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    values = [b"{bad" if n in BAD else insert(n) for n in range(RECORDS)]
    TopicWriter(tmp_path / "topics", "people").append(values)
    return tmp_path


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_point_of_a_correction_leaves_it_applied_once(root: Path, point: str) -> None:
    assert run(root, point).wait(60) == -signal.SIGKILL
    expect_each_once(root)


def test_kills_at_random_leave_every_correction_applied_once(root: Path) -> None:
    chance = random.Random(11)
    killed = 0
    for _ in range(5):
        process = run(root, "none")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.1))
        process.kill()
        killed += process.wait() != 0
    assert killed > 0, "the process was never killed at work"
    expect_each_once(root)


def run(root: Path, point: str) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-m", "tests.faults.correcting", str(root), point]
    return subprocess.Popen(program, stdout=subprocess.PIPE)


def expect_each_once(root: Path) -> None:
    """Go on to the end; then every row has been published once, at times that rise by one."""
    assert run(root, "none").wait(120) == 0
    published = TopicReader(root / "topics", "deltas.echo").read(0, 0, RECORDS * 4)
    lines = [orjson.loads(line) for line in published]
    assert sorted(line["row"]["id"] for line in lines if "row" in line) == list(range(RECORDS))
    frontiers = [line["frontier"] for line in lines if "frontier" in line]
    assert frontiers == list(range(1, len(BAD) + 2))
    kept = Quarantine(root / "quarantine").page(RECORDS)
    assert [found.status for found in kept] == ["replayed"] * len(BAD)
    assert [found.time for found in kept] == frontiers[1:]
