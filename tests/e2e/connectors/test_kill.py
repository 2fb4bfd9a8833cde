"""Deltas are published exactly once, however often the process is killed."""

import random
import subprocess
import sys
import time
from pathlib import Path

import orjson

from connectors.files.reader import TopicReader
from connectors.files.writer import TopicWriter
from connectors.quarantine.store import Quarantine
from tests.unit.connectors.records import insert

RECORDS = 3_000
BAD = range(10, RECORDS, 100)
KILLS = 8


def test_every_record_is_published_once_across_kills(tmp_path: Path) -> None:
    values = [b"{bad" if n in BAD else insert(n) for n in range(RECORDS)]
    TopicWriter(tmp_path / "topics", "people").append(values)
    killed = sum(killed_after(tmp_path, seconds) for seconds in delays())
    assert killed > 0, "the process was never killed at work"
    assert run(tmp_path).wait(60) == 0
    lines = [
        orjson.loads(x)
        for x in TopicReader(tmp_path / "topics", "deltas.echo").read(0, 0, RECORDS * 2)
    ]
    assert [line["row"]["id"] for line in lines if "row" in line] == [
        n for n in range(RECORDS) if n not in BAD
    ]
    frontiers = [line["frontier"] for line in lines if "frontier" in line]
    assert frontiers == list(range(1, len(frontiers) + 1))
    assert lines[-1]["offsets"] == {"people": {"0": RECORDS}}
    kept = Quarantine(tmp_path / "quarantine").page(RECORDS)
    assert [found.record.offset for found in kept] == list(BAD)


def delays() -> list[float]:
    """Seconds of work before each kill; the same in every run of the test."""
    chance = random.Random(7)
    return [chance.uniform(0.0, 0.4) for _ in range(KILLS)]


def run(root: Path) -> subprocess.Popen[bytes]:
    """The process, at work."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.e2e.connectors.echo", str(root)], stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    return process


def killed_after(root: Path, seconds: float) -> bool:
    """Run and kill the process; whether it was still at work."""
    process = run(root)
    time.sleep(seconds)
    process.kill()
    return process.wait() != 0
