"""Records of a real topic are read again as they are."""

import uuid
from contextlib import closing

import pytest

from connectors.connections import Connection
from connectors.errors import BrokerFault, RecordsLost
from connectors.kafka.rereading import Rereader
from tests.kafka.client import Kafka, Record


def rereader(address: str) -> Rereader:
    return Rereader(Connection(name="main", bootstrap_servers=address))


@pytest.fixture
def topic(kafka: Kafka) -> str:
    """A topic with six records."""
    name = f"again-{uuid.uuid4().hex}"
    kafka.create_topic(name)
    kafka.produce(
        name, [Record(b"%d" % n, key=b"k", headers=(("h", b"\xff"),)) for n in range(5)] + [b""]
    )
    return name


def values(kafka: Kafka, topic: str, first: int, end: int) -> list[bytes | None]:
    parts = rereader(kafka.address)(topic, 0, first, end)
    return [value for part in parts for value in part.values]


def test_a_range_is_read_with_all_that_records_have(kafka: Kafka, topic: str) -> None:
    (part,) = rereader(kafka.address)(topic, 0, 1, 3)
    assert (list(part.values), list(part.offsets)) == ([b"1", b"2"], [1, 2])
    assert part.keys == [b"k", b"k"]
    assert part.headers is not None
    assert part.headers[0] == (("h", b"\xff"),)
    assert part.timestamps is not None
    assert all(part.timestamps)


def test_reading_ends_where_the_topic_does(kafka: Kafka, topic: str) -> None:
    assert values(kafka, topic, 4, 100) == [b"4", b""]
    assert values(kafka, topic, 6, 100) == []


def test_reading_goes_on_from_a_position(kafka: Kafka, topic: str) -> None:
    source = rereader(kafka.address).open(topic, 0, 1, 4)
    assert source.position == 1
    batch = source.next_batch()
    assert batch is not None
    assert list(batch.values) == [b"1", b"2", b"3"][: len(batch)]
    source.close()
    source.close()
    rest = values(kafka, topic, source.position, 6)
    assert [*batch.values, *rest] == [b"1", b"2", b"3", b"4", b""]


def test_a_source_that_is_read_to_its_end_gives_nothing_more(kafka: Kafka, topic: str) -> None:
    with closing(rereader(kafka.address).open(topic, 0, 0, 2)) as source:
        while source.next_batch() is not None:
            pass
        assert source.next_batch() is None
        assert source.position == 2


def test_offsets_that_are_gone_are_told(kafka: Kafka, topic: str) -> None:
    with pytest.raises(RecordsLost):
        values(kafka, topic, 50, 100)


def test_a_broker_that_does_not_answer_is_told_by_its_setting() -> None:
    with pytest.raises(BrokerFault, match=r"connections\.main\.bootstrap_servers"):
        list(rereader("127.0.0.1:9")("topic", 0, 0, 1))
