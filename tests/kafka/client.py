"""What tests ask of a broker: topics of their own, records in, committed records out."""

import time
import uuid
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from types import MappingProxyType

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    IsolationLevel,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import (
    AdminClient,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    OffsetSpec,
    ResourceType,
)
from confluent_kafka.cimpl import NewPartitions, NewTopic

Options = Mapping[str, str | int | float | bool]

WAIT_SECONDS = 30.0


@dataclass(frozen=True, slots=True)
class Record:
    """A record to produce; without a partition it goes where its key says, without a time now."""

    value: bytes | None
    key: bytes | None = None
    partition: int = -1
    headers: tuple[tuple[str, bytes], ...] = ()
    timestamp: int = 0


@dataclass(frozen=True)
class Kafka:
    """A broker at `address`, and librdkafka's options beyond it."""

    address: str
    options: Options = field(default_factory=dict)

    def configured(
        self, options: Options = MappingProxyType({})
    ) -> dict[str, str | int | float | bool]:
        """What a client of librdkafka is made with, beside `options`."""
        return {"bootstrap.servers": self.address, **self.options, **options}

    def create_topic(
        self, name: str, partitions: int = 1, config: Mapping[str, str] | None = None
    ) -> None:
        """Create a topic, and wait until it is there (raises KafkaException)."""
        topic = NewTopic(name, partitions, replication_factor=1, config=dict(config or {}))
        admin = self.admin()  # kept until the answer is there
        for done in admin.create_topics([topic], operation_timeout=WAIT_SECONDS).values():
            done.result(WAIT_SECONDS)

    def add_partitions(self, name: str, total: int) -> None:
        """Let a topic have so many partitions, and wait until it has (raises KafkaException)."""
        admin = self.admin()
        for done in admin.create_partitions([NewPartitions(name, total)]).values():
            done.result(WAIT_SECONDS)

    def delete_topic(self, name: str) -> None:
        """Delete a topic (raises KafkaException)."""
        admin = self.admin()
        for done in admin.delete_topics([name], operation_timeout=WAIT_SECONDS).values():
            done.result(WAIT_SECONDS)

    def configure_topic(self, name: str, config: Mapping[str, str]) -> None:
        """Change settings of a topic (raises KafkaException)."""
        admin = self.admin()
        entries = [
            ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
            for key, value in config.items()
        ]
        resource = ConfigResource(ResourceType.TOPIC, name, incremental_configs=entries)
        for done in admin.incremental_alter_configs([resource]).values():
            done.result(WAIT_SECONDS)

    def topic_settings(self, name: str) -> Mapping[str, str]:
        """The settings that hold for a topic (raises KafkaException)."""
        admin = self.admin()  # kept until it has answered
        resource = ConfigResource(ResourceType.TOPIC, name)
        entries = admin.describe_configs([resource])[resource].result(WAIT_SECONDS)
        return {key: str(entry.value) for key, entry in entries.items()}

    def produce(self, topic: str, records: Iterable[bytes | Record]) -> list[tuple[int, int]]:
        """Append records, in their order, and wait until they are acknowledged.

        Returns the partition and offset of each (raises KafkaException).
        """
        producer = self.producer({"enable.idempotence": True})
        producer.list_topics(timeout=WAIT_SECONDS)  # or its first record waits half a second
        done: dict[int, Message] = {}
        for number, record in enumerate(records):
            sent = Record(record) if isinstance(record, bytes) else record
            _send(producer, topic, sent, partial(_note, done, number))
        if producer.flush(WAIT_SECONDS):
            raise TimeoutError(f"{topic!r}: records were not acknowledged in {WAIT_SECONDS:g} s")
        return [_place(done[number]) for number in range(len(done))]

    def read_committed(self, topic: str) -> list[Message]:
        """All records up to the last stable offset of each partition, without aborted ones."""
        return self._read(topic, "read_committed")

    def read_uncommitted(self, topic: str) -> list[Message]:
        """All records of the log, also those of open and aborted transactions."""
        return self._read(topic, "read_uncommitted")

    def is_decided(self, topic: str) -> bool:
        """Whether no transaction is open in any partition: a reader of committed records sees all.

        A commit is answered before its markers are written; until then it is open.
        """
        admin, ends = self.admin(), []  # which is kept until it has answered
        places = {TopicPartition(topic, p): OffsetSpec.latest() for p in self.partitions(topic)}
        for level in (IsolationLevel.READ_COMMITTED, IsolationLevel.READ_UNCOMMITTED):
            answers = admin.list_offsets(places, isolation_level=level)
            ends.append({place.partition: a.result().offset for place, a in answers.items()})
        return ends[0] == ends[1]

    def producer(self, options: Options = MappingProxyType({})) -> Producer:
        """A producer with these options."""
        return Producer(self.configured(options))

    def admin(self) -> AdminClient:
        """An administrator."""
        return AdminClient(self.configured())

    def partitions(self, topic: str) -> list[int]:
        """The partitions of a topic."""
        return _partitions(self.admin(), topic)

    def _read(self, topic: str, isolation: str) -> list[Message]:
        options: Options = {
            "group.id": f"reader-{uuid.uuid4()}",
            "isolation.level": isolation,
            "enable.partition.eof": True,
            "enable.auto.commit": False,
            "auto.offset.reset": "error",
            "fetch.wait.max.ms": 10,  # at the end of a partition nothing more is awaited
        }
        consumer = Consumer(self.configured(options))
        try:
            unread = set(_partitions(consumer, topic))
            consumer.assign([TopicPartition(topic, each, OFFSET_BEGINNING) for each in unread])
            return _drained(consumer, unread)
        finally:
            consumer.close()


def _partitions(client: AdminClient | Consumer, topic: str) -> list[int]:
    found = client.list_topics(topic, timeout=WAIT_SECONDS).topics[topic]
    if found.error is not None:
        raise KafkaException(found.error)
    return sorted(found.partitions)


def _note(
    done: dict[int, Message], number: int, _error: KafkaError | None, message: Message
) -> None:
    done[number] = message


def _place(message: Message) -> tuple[int, int]:
    """Where the broker put a record (raises KafkaException if it did not)."""
    if (error := message.error()) is not None:
        raise KafkaException(error)
    partition, offset = message.partition(), message.offset()
    assert partition is not None
    assert offset is not None
    return partition, offset


def _send(
    producer: Producer,
    topic: str,
    record: Record,
    on_delivery: Callable[[KafkaError | None, Message], None],
) -> None:
    while True:
        try:
            producer.produce(
                topic,
                value=record.value,
                key=record.key,
                partition=record.partition,
                headers=list(record.headers),
                timestamp=record.timestamp,
                on_delivery=on_delivery,
            )
        except BufferError:
            producer.poll(1)
        else:
            return


def _drained(consumer: Consumer, unread: set[int]) -> list[Message]:
    """The records until the end of every partition of `unread`."""
    found: list[Message] = []
    deadline = time.monotonic() + WAIT_SECONDS
    while unread:
        messages = consumer.consume(1_000, 0.01)
        if messages:
            deadline = time.monotonic() + WAIT_SECONDS
        elif time.monotonic() > deadline:
            raise TimeoutError(f"partitions {sorted(unread)} were not read to their end")
        for message in messages:
            error = message.error()
            if error is None:
                found.append(message)
            elif error.code() == KafkaError._PARTITION_EOF:
                unread.discard(message.partition())
            else:
                raise KafkaException(error)
    return found
