"""The topics of a cluster as its brokers report them: ids, partitions, offsets.

Every call answers within `TIMEOUT` seconds or raises a BrokerFault that names the setting of the
connection which the client's errors point at.
"""

import logging
import time as clock
from collections import deque
from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import dataclass
from typing import Any

from confluent_kafka import (
    IsolationLevel,
    KafkaError,
    KafkaException,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    ConfigResource,
    OffsetSpec,
    ResourceType,
)

from connectors.connections import Connection
from connectors.errors import BrokerFault, BrokerRefused, UnknownTopic

# How long brokers may take to answer.
TIMEOUT = 5.0
# How often, while waiting, the client's errors are looked at: some will not go away.
_LOOK = 0.05

# What is answered while a partition gets a leader, as a new one does, or another.
_UNLED = (
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError._NOENT,  # librdkafka's own word where none of the partitions asked for has a leader
)
REFUSALS = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
    KafkaError.GROUP_AUTHORIZATION_FAILED,
)

log = logging.getLogger(__name__)

# (topic, partition) -> offset
PartitionOffsets = dict[tuple[str, int], int]


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic; `id` is another one once it has been deleted and created again.

    `replicas` are those of the partition that has fewest.
    """

    name: str
    id: str
    partitions: tuple[int, ...]
    replicas: int


class Cluster:
    """A client of one cluster; safe to call from several threads."""

    def __init__(self, connection: Connection) -> None:
        """Nothing is asked of the brokers yet (raises BrokerRefused where no token is signed)."""
        self._connection = connection
        self._errors: deque[KafkaError] = deque(maxlen=16)
        self._admin = self._new_admin()

    def _new_admin(self) -> AdminClient:
        options = {
            **self._connection.librdkafka(),
            "error_cb": self._errors.append,
            "log_level": 2,  # what is wrong is told by what we raise
            "reconnect.backoff.max.ms": 1000,
        }
        try:
            return AdminClient(options, logger=log)
        except KafkaException as error:
            if error.args[0].code() != KafkaError.SASL_AUTHENTICATION_FAILED:
                raise
            text = f"{error.args[0].str()}: there are no credentials of AWS, or they give no token"
            raise self._broken(BrokerRefused, self._connection.credentials, text) from error

    def check(self) -> None:
        """Raise a BrokerFault unless the cluster answers, and accepts our credentials."""
        self._all({"cluster": self._admin.describe_cluster(request_timeout=TIMEOUT)})

    def topics(self, names: Iterable[str], readable: bool = False) -> dict[str, Topic]:
        """The topics of these names (raises UnknownTopic).

        If they must be `readable`, BrokerRefused is raised for one that may not be read.
        """
        found = self._described(names, with_operations=readable)
        for name, described in found.items():
            operations = described.authorized_operations
            if readable and operations is not None and AclOperation.READ not in operations:
                text = f"it may not read topic {name!r}"
                raise self._broken(BrokerRefused, "sasl_username", text, name)
        return {
            name: Topic(
                name,
                str(d.topic_id),
                tuple(sorted(p.id for p in d.partitions)),
                min((len(p.replicas) for p in d.partitions), default=1),
            )
            for name, d in found.items()
        }

    def names(self) -> list[str]:
        """The names of all topics that we may describe (raises BrokerFault)."""
        self._errors.clear()
        try:
            found = self._admin.list_topics(timeout=TIMEOUT).topics
        except KafkaException as error:
            self._admin.poll(0)
            raise self._refusal("cluster", error.args[0]) from error
        return [name for name, topic in found.items() if topic.error is None]

    def check_readable(self, name: str) -> None:
        """Raise UnknownTopic, or BrokerRefused if the topic may not be read."""
        self.topics([name], readable=True)

    def is_compacted(self, name: str) -> bool:
        """Whether a topic keeps the latest record of each key; False if that may not be known.

        Raises BrokerFault.
        """
        try:
            return "compact" in self.settings(name)["cleanup.policy"]
        except BrokerRefused:
            return False

    def settings(self, name: str) -> Mapping[str, str]:
        """The settings of a topic, defaults among them (raises BrokerFault)."""
        asked = ConfigResource(ResourceType.TOPIC, name)
        answers = self._admin.describe_configs([asked], request_timeout=TIMEOUT)
        found = self._all({name: answers[asked]})[name]
        return {each: entry.value for each, entry in found.items() if entry.value is not None}

    def brokers(self) -> int:
        """The number of brokers (raises BrokerFault)."""
        asked = {"cluster": self._admin.describe_cluster(request_timeout=TIMEOUT)}
        return len(self._all(asked)["cluster"].nodes)

    def firsts(self, partitions: Iterable[tuple[str, int]]) -> PartitionOffsets:
        """The smallest offset held."""
        return self._offsets(partitions, OffsetSpec.earliest())

    def ends(
        self, partitions: Iterable[tuple[str, int]], committed: bool = True
    ) -> PartitionOffsets:
        """The offset after the last record.

        With `committed`, of those before the first transaction that is open.
        """
        return self._offsets(partitions, OffsetSpec.latest(), committed)

    def at(self, partitions: Iterable[tuple[str, int]], timestamp: int) -> PartitionOffsets:
        """The first record of `timestamp` (epoch, ms) or later; -1 where there is none."""
        return self._offsets(partitions, OffsetSpec.for_timestamp(timestamp))

    def _described(self, names: Iterable[str], with_operations: bool) -> dict[str, Any]:
        collection = TopicCollection(list(names))
        return self._all(
            self._admin.describe_topics(
                collection, include_authorized_operations=with_operations, request_timeout=TIMEOUT
            )
        )

    def _offsets(
        self, partitions: Iterable[tuple[str, int]], spec: Any, committed: bool = True
    ) -> PartitionOffsets:
        asked = {TopicPartition(topic, partition): spec for topic, partition in partitions}
        if not asked:
            return {}
        level = IsolationLevel.READ_COMMITTED if committed else IsolationLevel.READ_UNCOMMITTED
        deadline = clock.monotonic() + TIMEOUT
        while True:
            admin = self._admin  # kept until it has answered, should another thread replace it
            answers = admin.list_offsets(asked, isolation_level=level, request_timeout=TIMEOUT)
            try:
                found = self._all(answers)
            except BrokerFault as error:
                if not _is_unled(error.__cause__) or clock.monotonic() > deadline:
                    raise
                self._admin = self._new_admin()
                clock.sleep(_LOOK)
            else:
                return {(tp.topic, tp.partition): result.offset for tp, result in found.items()}

    def _all(self, futures: Mapping[Any, Future[Any]]) -> dict[Any, Any]:
        """The results of all `futures` (raises BrokerFault)."""
        self._errors.clear()
        deadline = clock.monotonic() + TIMEOUT + _LOOK
        return {key: self._one(key, future, deadline) for key, future in futures.items()}

    def _one(self, asked: Any, future: Future[Any], deadline: float) -> Any:
        while True:
            try:
                return future.result(_LOOK)
            except FutureTimeout:
                self._admin.poll(0)
                if any(e.code() == KafkaError._AUTHENTICATION for e in tuple(self._errors)):
                    raise self._fault() from None
                if clock.monotonic() > deadline:
                    raise self._fault() from None
            except KafkaException as error:
                self._admin.poll(0)
                raise self._refusal(asked, error.args[0]) from error

    def _refusal(self, asked: Any, error: KafkaError) -> BrokerFault:
        """The error that an answer, or the lack of one, stands for."""
        topic = asked.topic if isinstance(asked, TopicPartition) else asked
        if error.code() in (KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError._UNKNOWN_PARTITION):
            return UnknownTopic(
                f"topic {topic!r}: connection {self._connection.name!r} has no such topic; create "
                "it, or correct `topic`",
                f"connection {self._connection.name}",
                "topic",
                topic,
            )
        if error.code() in REFUSALS:
            text = f"topic {topic!r}: {error.str()}"
            only = topic if error.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED else None
            return self._broken(BrokerRefused, "sasl_username", text, only)
        if self._errors:
            return self._fault()
        return self._broken(BrokerFault, "bootstrap_servers", error.str())

    def _fault(self) -> BrokerFault:
        """The fault behind the client's latest errors, by the setting that they point at."""
        errors = {error.code(): error.str() for error in tuple(self._errors)}
        if (text := errors.get(KafkaError._AUTHENTICATION)) is not None:
            return self._broken(BrokerRefused, self._connection.credentials, text)
        if (text := errors.get(KafkaError._SSL)) is not None:
            return self._broken(BrokerRefused, "ssl_ca_location", text)
        silence = f"no answer from {self._connection.bootstrap_servers} within {TIMEOUT:g} s"
        texts = (errors.get(code) for code in (KafkaError._RESOLVE, KafkaError._TRANSPORT))
        found = next((text for text in texts if text is not None), silence)
        return self._broken(BrokerFault, "bootstrap_servers", found)

    def _broken(
        self, kind: type[BrokerFault], setting: str, text: str, topic: str | None = None
    ) -> BrokerFault:
        name = self._connection.name
        setting = f"connections.{name}.{setting}"
        return kind(f"{setting}: {text}", f"connection {name}", setting, topic)


def _is_unled(error: BaseException | None) -> bool:
    """Whether a client asked one that does not lead a partition, or not as the client thinks.

    librdkafka's client keeps the epoch of each leader that it has asked, and goes on asking with it
    after the leader was elected anew, even if it is the same broker: another client is needed.
    """
    return isinstance(error, KafkaException) and error.args[0].code() in _UNLED
