"""Row 19: the broker's disk is full. The service waits, says so, and goes on once there is room."""

import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.test_18_disk_full_amid_a_checkpoint import disk_full, may_mount
from tests.faults.test_kafka_sink import World
from tests.kafka.broker import Broker
from tests.kafka.java import NoJars, await_true

MEGABYTES = 96


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A small disk."""
    if not may_mount():
        pytest.skip("a disk of its own needs the right to mount one")
    directory = tmp_path / "disk"
    directory.mkdir()
    size = f"size={MEGABYTES}m"
    subprocess.run(["mount", "-t", "tmpfs", "-o", size, "none", directory], check=True)
    try:
        yield directory
    finally:
        subprocess.run(["umount", "-l", directory], check=True)


def test_each_change_is_published_once_there_is_room_again(small: Path, tmp_path: Path) -> None:
    try:
        broker = Broker(small, settings={"log.segment.bytes": str(1 << 20)})
    except NoJars as reason:
        pytest.skip(str(reason))
    broker.start()
    try:
        world = World(tmp_path, broker)
        publishing = world.started()
        publishing.deliver(world.histories)
        is_over = threading.Event()

        def deliver() -> None:
            while not is_over.is_set():
                publishing.deliver(world.histories)

        with disk_full(small):
            delivering = threading.Thread(target=deliver)
            delivering.start()  # more and more, since blocks that are begun have room for some
            await_true("the fault is told", publishing.sink.faults, 60)
            is_over.set()
            assert delivering.is_alive(), "it waits"
        broker.kill()  # one whose disk failed has shut its log down, or itself
        broker.start()
        delivering.join(60)
        assert not delivering.is_alive()
        publishing.deliver(world.histories)
        assert publishing.sink.faults() == []
        publishing.close()
        world.assert_exactly_once()
    finally:
        broker.stop()
