"""Row 1, for checkpoints: killed anywhere amid one, the service loses and doubles nothing."""

import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from connectors.files.reader import TopicReader
from connectors.progress.journal import Journal
from tests.faults.checkpointing import BATCH, POINTS
from tests.unit.api.filed import runtime_on, write_rows
from tests.unit.api.test_checkpoints import folded, order

RECORDS = 12 * BATCH
CUSTOMERS = ("ada", "bob", "a customer with a longer name")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    changes = [(order(n, CUSTOMERS[n % 3], n), 1) for n in range(RECORDS)]
    write_rows(tmp_path, "orders", *changes)
    return tmp_path


@pytest.mark.parametrize("point", POINTS)
def test_a_kill_at_any_point_of_a_checkpoint_changes_nothing(root: Path, point: str) -> None:
    assert run(root, point).wait(120) == -signal.SIGKILL
    expect_all_once(root)


def test_kills_at_random_change_nothing(root: Path) -> None:
    chance = random.Random(5)
    killed = 0
    for _ in range(4):
        process = run(root, "none")
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.15))
        process.kill()
        killed += process.wait() != 0
    assert killed > 0, "the process was never killed at work"
    expect_all_once(root)


def run(root: Path, point: str) -> subprocess.Popen[bytes]:
    program = [sys.executable, "-m", "tests.faults.checkpointing", str(root), point]
    return subprocess.Popen(program, stdout=subprocess.PIPE)


def expect_all_once(root: Path) -> None:
    """Go on to the end; then the deltas add up to what the topic says, each time once."""
    assert run(root, "none").wait(240) == 0
    expected = {(CUSTOMERS[c], RECORDS // 3, str(sum(range(c, RECORDS, 3)))): 1 for c in range(3)}
    sums, frontiers = folded(root)
    assert sums == expected
    assert frontiers == sorted(set(frontiers))
    assert TopicReader(root / "topics", "orders").ends() == {0: RECORDS}
    again = runtime_on(root)
    assert again.readiness.fault() is None
    assert again.applier.offsets().by_topic() == {"orders": {0: RECORDS}}
    found = again.pool.scan("totals").rows.to_pylist()
    assert Counter((r["customer"], r["orders"], str(r["total"])) for r in found) == expected
    again.stop()
    journal = Journal(root / "journal")
    # Killed before its first batch, the next start may read all at one time: one checkpoint.
    assert journal.base > 0 or journal.last_time == 1
    journal.close()
