"""A service that is killed comes back from its checkpoint, though its history is gone."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from connectors.files.layout import bases, partition_directory, segment_path
from connectors.files.writer import TopicWriter
from tests.e2e.test_service import Running, person

pytestmark = pytest.mark.jvm

RECORDS = 2_000


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Running]:
    monkeypatch.setenv("IVM_CHECKPOINT_SECONDS", "0.2")
    monkeypatch.setenv("IVM_WAIT_SECONDS", "100")
    running = Running(tmp_path)
    yield running
    running.client.close()
    running.service.stop()


def written(running: Running, count: int) -> None:
    """Wait until this many checkpoints were written."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        metrics = running.client.text("/metrics").splitlines()
        found = next(m for m in metrics if m.startswith("ivm_checkpoints_total "))
        if float(found.split()[-1]) >= count:
            return
        time.sleep(0.05)
    raise TimeoutError(f"fewer than {count} checkpoints within a minute")


def test_records_that_a_checkpoint_holds_are_not_read_again(
    running: Running, tmp_path: Path
) -> None:
    running.declare("people").close()
    people = TopicWriter(running.topics, "people", segment_bytes=1)
    for start in range(0, RECORDS, 500):
        people.append([person("c", n, f"city {n % 3}") for n in range(start, start + 500)])
        rows = running.rows("people", start + 499)
        written(running, 1 + start // 500)
    running.service.kill()
    directory = partition_directory(running.topics, "people", 0)
    for base in bases(directory)[:2]:
        segment_path(directory, base).unlink()
    people.append([person("d", 0, "city 0")])
    running.service.start()
    running.service.wait_ready()
    expected = {row["city"]: row["people"] for row in rows}
    expected["city 0"] -= 1
    assert {r["city"]: r["people"] for r in running.rows("people", RECORDS)} == expected
    assert running.folded("people") == dict.fromkeys(expected.items(), 1)
