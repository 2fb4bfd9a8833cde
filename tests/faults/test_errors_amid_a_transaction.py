"""Blows to the producer itself amid a transaction: a usurper, or another coordinator.

By moment: before the transaction begins, before its first message, and before its commit. Each
change stays published once, and of a usurped one nothing is.
"""

from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.errors import SinkFenced
from connectors.sinks.kafka.producer import TransactionalProducer
from tests.faults.publishing import messages
from tests.faults.test_kafka_sink import World
from tests.kafka.broker import Broker
from tests.kafka.client import Kafka

MOMENTS = ["begin", "produce", "commit"]
at_each_moment = pytest.mark.parametrize("moment", MOMENTS)


def amid(monkeypatch: pytest.MonkeyPatch, moment: str, do: Callable[[], None]) -> None:
    """Have something done once, before the next such call of a producer."""
    original = getattr(TransactionalProducer, moment)
    left = [do]

    def wrapped(producer: TransactionalProducer, *arguments: object) -> object:
        if left:
            left.pop()()
        return original(producer, *arguments)

    monkeypatch.setattr(TransactionalProducer, moment, wrapped)


@at_each_moment
def test_a_producer_that_another_has_fenced_publishes_nothing_more(
    kafka: Kafka, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    world = World(tmp_path, kafka)
    publishing = world.started()
    publishing.deliver(world.histories)
    before = {name: len(messages(kafka, f"{world.service}.{name}")) for name in ("a", "b")}

    def usurp() -> None:
        kafka.producer({"transactional.id": f"{world.service}.main"}).init_transactions()

    with monkeypatch.context() as patched:
        amid(patched, moment, usurp)
        with pytest.raises(SinkFenced, match="another instance"):
            publishing.deliver(world.histories)
    for name, count in before.items():
        assert len(messages(kafka, f"{world.service}.{name}")) == count
    publishing.close()
    again = world.started()
    again.deliver(world.histories)
    again.close()
    world.assert_exactly_once()


@at_each_moment
def test_a_coordinator_that_comes_back_amid_a_transaction_gets_each_change_once(
    broker: Broker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    world = World(tmp_path, broker)
    publishing = world.started()
    publishing.deliver(world.histories)

    def begin_anew() -> None:
        broker.kill()
        broker.start()

    with monkeypatch.context() as patched:
        amid(patched, moment, begin_anew)
        publishing.deliver(world.histories)
    publishing.deliver(world.histories)
    publishing.close()
    world.assert_exactly_once()
