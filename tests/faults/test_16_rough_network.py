"""Row 16: what is published over a rough network is published once, and goes on once it is fair."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.test_kafka_sink import World
from tests.kafka.broker import Broker
from tests.kafka.client import Kafka
from tests.kafka.java import NoJars
from tests.kafka.network import FAIR, Network, Weather

WEATHERS = {
    "latency": Weather(delay=0.05),
    "slicing": Weather(slice=7),
    "bandwidth": Weather(bytes_per_second=50_000),
    "resets": Weather(resets=0.02),
    "timeouts": Weather(holes=0.1),
}


@pytest.fixture
def network(tmp_path: Path) -> Iterator[tuple[World, Network]]:
    """A broker that is reached through a network."""
    network = Network()
    try:
        broker = Broker(tmp_path / "broker", settings=network.advertised())
        with network.running(broker.address):
            broker.start()
            try:
                yield World(tmp_path, Kafka(network.address)), network
            finally:
                broker.stop()
    except NoJars as reason:
        pytest.skip(str(reason))


@pytest.mark.parametrize("weather", WEATHERS)
def test_each_change_is_published_once(network: tuple[World, Network], weather: str) -> None:
    world, between = network
    publishing = world.started()
    publishing.deliver(world.histories)

    def deliver() -> None:
        for _ in range(4):
            publishing.deliver(world.histories)

    between.weather = WEATHERS[weather]
    delivering = threading.Thread(target=deliver)
    delivering.start()
    delivering.join(10)
    between.weather = FAIR
    began = time.monotonic()
    delivering.join(60)
    assert not delivering.is_alive(), "ready within 60 s of the fault's end"
    assert time.monotonic() - began < 60
    publishing.deliver(world.histories)
    assert publishing.sink.faults() == []
    publishing.close()
    world.assert_exactly_once()
