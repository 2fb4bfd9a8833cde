"""A transactional producer that knows when it must not be used again.

A commit that reaches the broker late would hit the transaction after it, since librdkafka
gives all transactions of a producer one epoch (issue 5423). So a producer is `suspect` as soon as
anything but a prompt answer may have happened: a request timed out or was sent again, a connection
was lost, a call ran long or was repeated. Statistics tell of a repeated request, but late, and a
connection that the peer closed is no error to librdkafka; its log has both at once, so the log is
what we listen to first. Whoever sees that closes it; a new one with the same
transactional id gets a new epoch from `init_transactions`, and nothing of the old one counts.

For the same reason there is no call that aborts: a transaction that failed is given up with its
producer, and `init_transactions` of the next one aborts it. librdkafka's own abort ends in a fatal
INVALID_TXN_STATE where the broker refused the transaction's first partitions, since then it knows
of no transaction to end.
"""

import time as clock
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

import orjson
import structlog
from confluent_kafka import KafkaError, KafkaException, Message, Producer

from connectors.errors import BrokerFault
from connectors.sinks.kafka.logs import listened

log = structlog.get_logger()

Headers = list[tuple[str, str | bytes | None]]
Stopped = Callable[[], bool]

# Seconds that `init_transactions` may take.
_CALL_SECONDS = 5.0
# How long a transaction may make us wait before we look whether to go on with it, in seconds.
_LOOK_SECONDS = 2.0
# A commit that takes longer may have been sent twice.
_PROMPT_SECONDS = 2.0
_STATISTICS_MS = 250
# A broker writes the markers of a transaction after its answer. Partitions that are added to the
# next one before that are refused, and librdkafka asks again after 20 ms; so it begins so many
# seconds later.
_GAP_SECONDS = 0.005
# How librdkafka's log begins a line on a lost connection, a request without an answer.
_LOST = ("FAIL", "REQTMOUT", "REQERR")
_QUEUE_KBYTES = 256 << 10

# Errors reported of messages that were given up with their transaction.
_PURGED = (KafkaError._PURGE_QUEUE, KafkaError._PURGE_INFLIGHT)
_FENCING = frozenset(
    {KafkaError._FENCED, KafkaError.PRODUCER_FENCED, KafkaError.INVALID_PRODUCER_EPOCH}
)


class TransactionalProducer:
    """One producer, from `init` to `close`; used by one thread."""

    def __init__(
        self,
        options: Mapping[str, Any],
        transactional_id: str,
        transaction_seconds: float,
        batch_bytes: int,
        stopped: Stopped,
    ) -> None:
        """`batch_bytes` bounds a batch of records; `stopped` ends calls that wait.

        `refused` has, by topic, why messages of the transaction were not taken.
        """
        self._stopped = stopped
        self._seconds = transaction_seconds
        self._retries = 0
        self._began = self._looked = clock.monotonic()
        self._ended = float("-inf")
        self._may_go_on: Callable[[], None] = lambda: None
        self.suspect: str | None = None
        self.fault: str | None = None
        self.refused: dict[str, KafkaError] = {}
        self._producer = Producer(
            {
                **options,
                "transactional.id": transactional_id,
                "transaction.timeout.ms": int(transaction_seconds * 1000),
                # A message gives up before its transaction does.
                "message.timeout.ms": int(transaction_seconds * 750),
                "socket.timeout.ms": int(min(transaction_seconds * 500, 20_000)),
                "batch.size": batch_bytes,
                "message.max.bytes": 512 << 20,  # what a topic takes is seen to before
                "linger.ms": 5,
                "compression.type": "lz4",
                "partitioner": "murmur2_random",
                "queue.buffering.max.messages": 0,
                "queue.buffering.max.kbytes": _QUEUE_KBYTES,
                "reconnect.backoff.max.ms": 2000,
                "statistics.interval.ms": _STATISTICS_MS,
                "delivery.report.only.error": True,
                "on_delivery": self._on_refusal,
                "stats_cb": self._on_statistics,
                "error_cb": self._on_error,
            },
            logger=listened(self._on_log),
        )

    @property
    def expired(self) -> bool:
        """Whether the transaction is so old that the broker may have given it up."""
        return clock.monotonic() - self._began >= self._seconds * 0.9

    def is_usable(self) -> bool:
        """Whether another transaction may begin, as far as is known by now."""
        self._producer.poll(0)
        if self.suspect is not None:
            log.info("producer recycled", reason=self.suspect)
        return self.suspect is None

    def init(self) -> None:
        """Get an epoch: older producers of this id are fenced, and their open transactions aborted.

        Raises KafkaException, also where the broker does not answer within some seconds.
        """
        self._producer.init_transactions(_CALL_SECONDS)
        self._producer.poll(0)
        self.suspect = None

    def begin(self, may_go_on: Callable[[], None]) -> None:
        """Begin a transaction; `may_go_on` is called while it makes us wait, and may raise."""
        clock.sleep(max(0.0, self._ended + _GAP_SECONDS - clock.monotonic()))
        self._began = self._looked = clock.monotonic()
        self._may_go_on = may_go_on
        self.refused.clear()
        self._producer.begin_transaction()

    def produce(
        self,
        topic: str,
        keys: Sequence[bytes | None],
        values: Sequence[bytes | None],
        partitions: Sequence[int],
        headers: Callable[[int], Headers],
    ) -> None:
        """Hand over messages of one topic (raises KafkaException, BrokerFault)."""
        produce = self._producer.produce
        for i, (key, value, partition) in enumerate(zip(keys, values, partitions, strict=True)):
            while True:
                try:
                    produce(topic, value, key, partition, headers=headers(i))
                    break
                except BufferError:
                    self._producer.poll(0.1)
                    self._expect_time()

    def commit(self) -> None:
        """Commit (raises KafkaException, BrokerFault: then it may have happened or not)."""
        started = clock.monotonic()
        while True:
            try:
                self._producer.commit_transaction(_LOOK_SECONDS)
                break
            except KafkaException as error:
                self.suspect = self.suspect or f"a commit was repeated or failed: {error}"
                if not error.args[0].retriable():
                    raise
                self.fault = self.fault or str(error.args[0].str())
                self._expect_time()
        self._ended = clock.monotonic()
        if self._ended - started > _PROMPT_SECONDS:
            self.suspect = self.suspect or "a commit ran long"
        self._producer.poll(0)

    def hear(self) -> None:
        """Take in the reports of messages that were refused by now."""
        with suppress(KafkaException):  # a fatal error, which the failed call has told
            self._producer.poll(0)

    def close(self) -> None:
        """Let go of the producer without waiting for the broker."""
        self._producer.purge(blocking=False)
        del self._producer

    def _expect_time(self) -> None:
        if self._stopped():
            raise BrokerFault("the service is stopping")
        if self.expired:
            raise BrokerFault(
                f"a transaction was not complete within transaction_seconds, {self._seconds:g}"
            )
        if clock.monotonic() - self._looked >= _LOOK_SECONDS:
            self._may_go_on()
            self._looked = clock.monotonic()

    def _on_refusal(self, error: KafkaError | None, message: Message) -> None:
        topic = message.topic()
        if error is not None and topic is not None and error.code() not in _PURGED:
            self.refused.setdefault(topic, error)

    def _on_statistics(self, text: str) -> None:
        brokers = orjson.loads(text)["brokers"].values()
        retries = sum(b["req_timeouts"] + b["txretries"] for b in brokers)
        if retries > self._retries:
            self.suspect = self.suspect or "a request was sent again or timed out"
        self._retries = retries

    def _on_log(self, message: str) -> None:
        if message.startswith(_LOST):
            self.suspect = self.suspect or f"a connection was lost: {message}"

    def _on_error(self, error: KafkaError) -> None:
        self.fault = error.str()
        self.suspect = self.suspect or f"a connection was lost: {error.str()}"


def is_fencing(error: KafkaException) -> bool:
    """Whether the broker says that a newer producer has our transactional id."""
    return error.args[0].code() in _FENCING
