"""A publisher's session: its producer, and the progress that is known to be committed.

The invariant: `last` is the last record on the progress topic with the connection's key. It holds
after `connect`, which fences older producers and reads the topic, and whoever commits a transaction
keeps it. Where the answer of a commit is lost, the producer is closed, and `connect` finds out.
"""

import time as clock
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from threading import Event
from typing import TypeVar

from confluent_kafka import KafkaException

from connectors.connections import Connection
from connectors.errors import BrokerFault, SinkDiverged, SinkFenced, Unavailable
from connectors.health import PartFault
from connectors.kafka.topics import Cluster
from connectors.progress.journal import Journal
from connectors.sinks.kafka.producer import TransactionalProducer, is_fencing
from connectors.sinks.kafka.progress import REMEDY, Progress
from connectors.sinks.kafka.reading import last_progress
from connectors.sinks.kafka.topics import Topics

# How long to wait between attempts while the brokers are away, in seconds: at first, and at most.
_FIRST_WAIT, _LONGEST_WAIT = 0.1, 3.0
# How long a broker may take to answer whoever does not wait for it, in seconds.
_ANSWER_SECONDS = 2.0
# librdkafka's own bound on a batch of records.
BATCH_BYTES = 1_000_000

Answer = TypeVar("Answer")


@dataclass(frozen=True, slots=True)
class Service:
    """The publishing service: `name` is the setting `service`, from which its ids are derived.

    `transaction_seconds` bounds a transaction; the broker aborts one that is older. Between two
    frontiers of a view that does not change are `progress_seconds` at least.
    """

    name: str
    transaction_seconds: float
    progress_seconds: float = 0.0

    @property
    def progress_topic(self) -> str:
        """The topic that holds the progress."""
        return f"{self.name}.progress"


class Session:
    """The brokers of one connection, as the one instance of the service that publishes there.

    Used by one thread at a time, but for `fault`, `ask` and `fault_of`. `fault` says what keeps a
    transaction from being committed, while it does. `is_open` once this instance is known to be
    the one. A producer's batches take `batch_bytes` at most. `cluster` asks the same brokers.
    """

    def __init__(
        self,
        connection: Connection,
        service: Service,
        journal: Journal,
        topics: Topics,
        stopping: Event,
    ) -> None:
        """Nothing is asked of the brokers yet; `stopping` ends all waiting."""
        self._connection = connection
        self._service = service
        self._journal = journal
        self._topics = topics
        self._stopping = stopping
        self.cluster = Cluster(connection)
        self.instance = uuid.uuid4().hex
        self.producer: TransactionalProducer | None = None
        self.last = Progress("", "")
        self.is_open = False
        self.batch_bytes = BATCH_BYTES
        self.fault: PartFault | None = None

    def connect(self) -> None:
        """Get a producer that may begin a transaction, and read the committed progress."""
        if self.producer is not None and self.producer.is_usable():
            return
        self.close()
        # Before anyone is fenced: another service, or a newer instance of this one, shall go on.
        # Nothing more follows from it: the markers of a transaction come after its answer.
        self._expect_ours(self._read())
        producer = TransactionalProducer(
            self._connection.librdkafka(),
            f"{self._service.name}.{self._connection.name}",
            self._service.transaction_seconds,
            self.batch_bytes,
            self._stopping.is_set,
        )
        try:
            producer.init()
            place = self._service.progress_topic, 0
            end = self.cluster.ends([place], committed=False)[place]
            self._adopt(self._read(end))
        except BaseException:
            producer.close()
            raise
        self.producer = producer

    def _read(self, end: int = 0) -> Progress:
        """The last record of progress, with all before offset `end` decided."""
        options = self._connection.librdkafka()
        topic, key = self._service.progress_topic, self._connection.name
        found = last_progress(options, topic, key, end)
        return found or Progress(self._journal.identity, self.instance)

    def _adopt(self, found: Progress) -> None:
        """Take `found` for the last record, which it is once the producer has its epoch.

        Raises SinkDiverged, SinkFenced.
        """
        self._expect_ours(found)
        if self.is_open and found.batch < self.last.batch:
            raise SinkDiverged(
                f"{self.where} ends with batch {found.batch}; batch {self.last.batch} was "
                f"committed; {REMEDY}"
            )
        self.last = found

    def _expect_ours(self, found: Progress) -> None:
        """Raise SinkDiverged, SinkFenced unless this instance wrote `found`, or one before it."""
        if found.service != self._journal.identity:
            raise SinkDiverged(
                f"{self.where} belongs to a service with another data directory; set `service` "
                f"(IVM_SERVICE) to something else than {self._service.name!r}, or restore the "
                "data directory"
            )
        is_older = found.batch < self.last.batch
        if self.is_open and found.instance != self.instance and not is_older:
            raise SinkFenced(
                f"another instance of service {self._service.name!r} publishes through connection "
                f"{self._connection.name!r} now; this one has stopped"
            )

    def close(self) -> None:
        if self.producer is not None:
            self.producer.close()
            self.producer = None

    def patiently(self, work: Callable[[], Answer], seconds: float = inf) -> Answer:
        """The result of `work`, tried until the brokers let it succeed, or for so long.

        Raises BrokerFault when that is over or the service stops, SinkFenced.
        """
        wait, deadline = _FIRST_WAIT, clock.monotonic() + seconds
        while True:
            try:
                answer = work()
            except (KafkaException, Unavailable) as error:
                if self._stopping.is_set():
                    raise BrokerFault(f"{self.told(error)} (the service is stopping)") from error
                self.recover(error)
                if clock.monotonic() > deadline:
                    self.fault = None
                    raise BrokerFault(self.told(error)) from error
                if self._stopping.wait(wait):
                    raise BrokerFault(f"{self.told(error)} (the service is stopping)") from error
                wait = min(wait * 2, _LONGEST_WAIT)
            else:
                self.fault = None
                return answer

    def recover(self, error: KafkaException | Unavailable) -> PartFault:
        """Be ready for another attempt (raises SinkFenced if a newer instance is at work)."""
        fault = self.fault = self.fault_of(error)
        producer = self.producer
        self.close()
        if producer is None or not isinstance(error, KafkaException) or not is_fencing(error):
            return fault
        if not producer.expired:
            raise SinkFenced(
                f"another instance of service {self._service.name!r} has taken over connection "
                f"{self._connection.name!r}; this one has stopped"
            ) from error
        return fault

    def fault_of(self, error: KafkaException | Unavailable) -> PartFault:
        """The fault of the connection that an error tells of."""
        setting = error.setting if isinstance(error, Unavailable) else None
        return PartFault(
            f"connection {self._connection.name}",
            f"connections.{self._connection.name}.{setting or 'bootstrap_servers'}",
            self.told(error),
        )

    def told(self, error: KafkaException | Unavailable) -> str:
        if isinstance(error, Unavailable):
            return str(error)
        producer = self.producer
        fault = producer.fault if producer is not None else None
        return f"connections.{self._connection.name}.bootstrap_servers: {fault or error.args[0]}"

    @property
    def where(self) -> str:
        return f"topic {self._service.progress_topic!r} ({self._connection.name!r})"

    def expect_journaled(self) -> None:
        """Raise SinkDiverged unless the journal knows the published time."""
        first, last = self._journal.committed_time, self._journal.last_time
        time = self.last.time
        if not first <= time <= last:
            raise SinkDiverged(
                f"{self.where} ends with time {time}, and the journal has committed {first} and "
                f"prepared {last}: one of both was replaced by an older one; {REMEDY}"
            )
        for entry in self._journal.entries():
            if entry.time == time and not set(entry.ranges) <= set(self.last.ranges):
                raise SinkDiverged(
                    f"{self.where}: time {time} was published from other input records than the "
                    f"journal says; {REMEDY}"
                )

    def ask(self) -> None:
        """Ask the brokers for something (raises KafkaException where none answers at once)."""
        self._topics.expect_answer(self._service.progress_topic, _ANSWER_SECONDS)

    def has_answer(self) -> bool:
        """Whether a broker answers at once; if none does, that is told."""
        try:
            self.ask()
        except KafkaException as error:
            self.recover(error)
            return False
        self.fault = None
        return True
