"""Row 31: poison between good records goes through the whole pipeline, each record accounted for.

Good records are applied, bad ones are kept byte for byte with their place; nothing is dropped, and
nothing stops.
"""

from collections.abc import Sequence

from connectors.files.writer import TopicWriter
from connectors.progress.batches import Counts
from connectors.quarantine.store import Repair
from tests.e2e.connectors.conftest import Service, service, spark
from tests.e2e.connectors.test_kafka import kafka_table, reading, start, topic
from tests.kafka.client import Kafka, Record
from tests.unit.connectors.records import insert, table
from tests.unit.connectors.test_poison import POISON

__all__ = ["reading", "service", "spark", "topic"]

# What a broker takes by default, and what is no record of its own in a file of lines.
LARGEST = 1_000_000
SMALL = [value for value in POISON.values() if len(value) < LARGEST]
LINES = [value for value in SMALL if value and b"\n" not in value]


def mixed(poison: Sequence[bytes]) -> list[bytes]:
    """A good record before each bad one, with the number of its offset; and one at the end."""
    pairs = [(insert(2 * n), value) for n, value in enumerate(poison)]
    return [value for pair in pairs for value in pair] + [insert(2 * len(poison))]


def expect_all_accounted_for(service: Service, name: str, values: Sequence[bytes]) -> None:
    """Even offsets are applied, odd ones kept as they are; then all of these are repaired."""
    good, bad = range(0, len(values), 2), range(1, len(values), 2)
    service.collector.wait(lambda: service.collector.count(name) == len(good))
    assert service.collector.ids(name) == list(good)
    counts = sum((b.counts[name] for b in service.collector.batches), Counts())
    assert counts == Counts(changes=len(good), rejected=len(bad))
    kept = [found.record for found in service.quarantine.page(len(values))]
    assert [(one.offset, one.value) for one in kept] == [(n, values[n]) for n in bad]
    for one in kept:
        service.quarantine.fix(one.place, Repair(one.key, insert(one.offset)))
    outcome = service.pipeline.correct([one.place for one in kept])
    assert (len(outcome.corrections), outcome.refused) == (len(bad), ())
    assert sorted(service.collector.ids(name)) == list(range(len(values)))


def test_poison_in_a_file_topic(service: Service) -> None:
    values = mixed(LINES)
    TopicWriter(service.topics, "people").append(values)
    service.pipeline.start([table()])
    expect_all_accounted_for(service, "people", values)


def test_poison_in_kafka(reading: Service, kafka: Kafka, topic: str) -> None:
    values = mixed(SMALL)
    kafka.produce(topic, [Record(value, key=b"\xff", headers=(("h", b"\0"),)) for value in values])
    start(reading, kafka_table(topic))
    expect_all_accounted_for(reading, topic, values)
    for found in reading.quarantine.page(len(values)):
        assert (found.record.key, found.record.headers) == (b"\xff", (("h", b"\0"),))
        assert found.record.timestamp
