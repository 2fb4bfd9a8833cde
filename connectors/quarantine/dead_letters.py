"""Quarantined records on their way to dead-letter topics, byte for byte.

The quarantine is the outbox: what it has not noted as sent is produced, and noted once brokers have
acknowledged it. So each record arrives at least once; after a crash between the two it comes twice,
which its coordinates tell. A topic that cannot be written holds back nothing but its own letters.
Headers are those of Kafka Connect, all of them text: where the record stood, and why it is here.
"""

import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import structlog
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from connectors.connections import Connection
from connectors.declaration import DeadLetter
from connectors.errors import UnknownConnection
from connectors.health import PartFault
from connectors.quarantine.store import Quarantine, Rejected
from connectors.streams import table_of
from connectors.tables.spec import TableSpec

log = structlog.get_logger()

# How often the quarantine is looked at, in seconds; how many records at a time; and how long
# brokers may take for them.
PERIOD = 1.0
PAGE = 500
_SECONDS = 10.0

PREFIX = "__connect.errors."


class DeadLetters:
    """Sends, on a thread of its own, the quarantined records of tables with a dead-letter topic."""

    def __init__(
        self,
        quarantine: Quarantine,
        connections: Mapping[str, Connection],
        tables: Callable[[], Sequence[TableSpec]],
        service: str,
    ) -> None:
        """`tables`: the sources of now; `service`: the sender that letters name."""
        self._quarantine = quarantine
        self._connections = connections
        self._tables = tables
        self._service = service
        self._producers: dict[str, Producer] = {}
        self._faults: dict[str, PartFault] = {}
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="dead-letters", daemon=True)

    def check(self, spec: TableSpec) -> None:
        """Raise UnknownConnection unless the letters of `spec` can be sent, if it wants any."""
        letter = spec.dead_letter
        if letter is not None and letter.connection not in self._connections:
            raise UnknownConnection(
                f"table {spec.name!r}: dead_letter.connection: the settings have no connection "
                f"{letter.connection!r}; there are {sorted(self._connections)}"
            )

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Send no more, after the letters under way."""
        self._stopped.set()
        if self._thread.is_alive():
            self._thread.join()

    def faults(self) -> list[PartFault]:
        """The topics that cannot be written at present."""
        return list(self._faults.values())

    def _run(self) -> None:
        while not self._stopped.wait(PERIOD):
            wanted = {spec.name: spec.dead_letter for spec in self._tables() if spec.dead_letter}
            self._faults = {t: fault for t, fault in self._faults.items() if t in wanted}
            for table, letter in wanted.items():
                while not self._stopped.is_set() and self._send(table, letter):
                    pass

    def _send(self, table: str, letter: DeadLetter) -> bool:
        """Send one page of a table; whether there may be more to send now."""
        records = self._quarantine.unsent(table, PAGE)
        if not records:
            return False
        errors: dict[int, KafkaError] = {}
        producer = self._producer(letter.connection)
        acknowledged: list[int] = []
        for number, record in enumerate(records):
            self._produce(producer, letter.topic, number, record, acknowledged, errors)
        producer.flush(_SECONDS + 1)
        self._quarantine.sent(records[number].place for number in sorted(acknowledged))
        if len(acknowledged) == len(records):
            self._faults.pop(table, None)
            return len(records) == PAGE
        reason = next(iter(errors.values())).str() if errors else f"no answer in {_SECONDS:g} s"
        setting = f"connections.{letter.connection}.bootstrap_servers"
        self._faults[table] = PartFault(
            f"dead letters of {table}",
            setting,
            f"topic {letter.topic!r}: {reason}; see {setting}, or create the topic. The records "
            "are kept in the quarantine until then",
        )
        return False

    def _produce(
        self,
        producer: Producer,
        topic: str,
        number: int,
        record: Rejected,
        acknowledged: list[int],
        errors: dict[int, KafkaError],
    ) -> None:
        def done(error: KafkaError | None, _: Message) -> None:
            if error is None:
                acknowledged.append(number)
            elif error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
                self._too_large(record, topic)
                acknowledged.append(number)
            else:
                errors[number] = error

        headers = [*(record.headers or ()), *_headers(record, self._service)]
        try:
            producer.produce(topic, record.value, record.key, headers=headers, on_delivery=done)
        except KafkaException as error:
            if error.args[0].code() == KafkaError.MSG_SIZE_TOO_LARGE:
                self._too_large(record, topic)
                acknowledged.append(number)
            else:
                errors[number] = error.args[0]

    def _too_large(self, record: Rejected, topic: str) -> None:
        """Such a record can never be sent; it is not to keep others waiting."""
        log.error("too large for the dead-letter topic", place=record.place, topic=topic)

    def _producer(self, connection: str) -> Producer:
        if connection not in self._producers:
            options: dict[str, Any] = {
                **self._connections[connection].librdkafka(),
                "enable.idempotence": True,
                "message.timeout.ms": int(_SECONDS * 1000),
                "linger.ms": 5,
            }
            self._producers[connection] = Producer(options)
        return self._producers[connection]


def _headers(record: Rejected, service: str) -> list[tuple[str, str]]:
    """The headers that Kafka Connect gives a record that it sends to a dead-letter topic."""
    said = {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "connector.name": f"{service}.{table_of(record.table)}",
        "stage": "VALUE_CONVERTER",
        "exception.class.name": record.reason,
        "exception.message": record.message,
    }
    return [(PREFIX + name, str(value)) for name, value in said.items()]
