"""Topics that are filled in a transaction, whose commit lets readers begin.

Until then readers of committed records see the opening records alone, and afterwards all: what a
system needs to start, to plan a query and to take a first record is over when the clock starts.
"""

import time
from collections.abc import Mapping, Sequence

from confluent_kafka import KafkaError, Message

from benchmarks.errors import BenchmarkError
from benchmarks.streams.events import PARTITIONS
from tests.kafka.client import Kafka, Options

_OPEN_MS = 900_000  # the most that a broker grants a transaction
_SECONDS = 120.0

_OPTIONS: Options = {
    "transaction.timeout.ms": _OPEN_MS,
    "log_level": 3,  # errors: a broker that has just started is waited for
    "compression.type": "lz4",
    "linger.ms": 20,
    "batch.size": 1 << 19,
    "queue.buffering.max.messages": 1_000_000,
    "queue.buffering.max.kbytes": 1 << 18,
}

Messages = Mapping[str, Sequence[tuple[int, bytes]]]
"""The partition and value of each message, by table."""


class Filling:
    """Topics with messages of which readers see the first ones until the others are committed."""

    def __init__(self, kafka: Kafka, run: str, messages: Messages) -> None:
        """Fill the topics `TABLE.RUN` (raises BenchmarkError)."""
        for table in messages:
            kafka.create_topic(f"{table}.{run}", PARTITIONS)
        self._producer = kafka.producer({**_OPTIONS, "transactional.id": f"filling.{run}"})
        self._producer.init_transactions(_SECONDS)
        self._producer.begin_transaction()
        for table, values in messages.items():
            self._fill(f"{table}.{run}", values[:PARTITIONS])
        self._producer.commit_transaction(_SECONDS)
        self._producer.begin_transaction()
        for table, values in messages.items():
            self._fill(f"{table}.{run}", values[PARTITIONS:])
        if self._producer.flush(_SECONDS):
            raise BenchmarkError(f"{run}: the broker did not take all messages")

    def commit(self) -> float:
        """Let readers see all of them; the moment at which the commit began."""
        began = time.monotonic()
        self._producer.commit_transaction(_SECONDS)
        return began

    def _fill(self, topic: str, values: Sequence[tuple[int, bytes]]) -> None:
        produce = self._producer.produce
        for partition, value in values:
            try:
                produce(topic, value, partition=partition, on_delivery=_check)
            except BufferError:
                self._producer.poll(1)
                produce(topic, value, partition=partition, on_delivery=_check)


def _check(error: KafkaError | None, _: Message) -> None:
    if error is not None:
        raise BenchmarkError(f"the broker did not take a message: {error}")
