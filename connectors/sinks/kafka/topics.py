"""The topics that a sink writes: made where they are missing, else compared with the request."""

import time as clock
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from confluent_kafka import KafkaError, KafkaException, TopicCollection
from confluent_kafka.admin import (
    AclOperation,
    AdminClient,
    ConfigResource,
    NewTopic,
    ResourceType,
)

from connectors.errors import BrokerRefused, InvalidSink
from connectors.sinks.kafka.logs import SILENT
from connectors.sinks.kafka.progress import Published
from connectors.sinks.kafka.refusals import DENIED, recreated, refused
from ivm.errors import IvmError

_CALL_SECONDS = 8.0
# For questions that others wait for, of which the answer is not needed.
_SHORT_SECONDS = 3.0
_LOOK_SECONDS = 0.05
_BROKERS_DEFAULT = -1
# Errors by which a broker refuses the topic that is asked for.
_REFUSALS = (
    KafkaError.INVALID_CONFIG,
    KafkaError.INVALID_PARTITIONS,
    KafkaError.INVALID_REPLICATION_FACTOR,
    KafkaError.POLICY_VIOLATION,
    KafkaError.TOPIC_EXCEPTION,
)

PROGRESS_CONFIG = {
    "cleanup.policy": "compact",
    # What was published lately can be compared with what was read, record by record.
    "min.compaction.lag.ms": "3600000",
    "segment.bytes": str(64 << 20),
}


@dataclass(frozen=True, slots=True)
class Topic:
    """A topic as the broker has it; `identity` is new when it is made anew.

    `limit` is the size of the largest batch of records that it takes, in bytes.
    """

    name: str
    identity: str
    partitions: int
    replication: int
    limit: int


class Topics:
    """The topics of one cluster."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._admin = AdminClient({**options, "socket.timeout.ms": 6000}, logger=SILENT)

    def ensure(
        self,
        name: str,
        partitions: int | None,
        replication: int | None,
        config: Mapping[str, str],
        defaults: Mapping[str, str] = MappingProxyType({}),
    ) -> Topic:
        """The topic, made if it is missing with `config`, and `defaults` for all else.

        Raises InvalidSink where it cannot be, or is there otherwise; KafkaException when the broker
        does not answer or refuses.
        """
        new = NewTopic(
            name,
            partitions or _BROKERS_DEFAULT,
            replication or _BROKERS_DEFAULT,
            config={**defaults, **config},
        )
        try:
            self._admin.create_topics([new], request_timeout=_CALL_SECONDS)[name].result()
        except KafkaException as error:
            code = error.args[0].code()
            if code in _REFUSALS:
                raise InvalidSink(f"topic {name!r}: {error.args[0].str()}") from error
            # Whoever may not make topics may use one that is there.
            is_there = code == KafkaError.TOPIC_ALREADY_EXISTS or (
                code in DENIED and self.find(name) is not None
            )
            if not is_there:
                raise
        found, settings = self._settled(name)
        if partitions not in (None, found.partitions):
            raise InvalidSink(
                f"topic {name!r} is there with {found.partitions} partitions, not {partitions}"
            )
        if replication not in (None, found.replication):
            raise InvalidSink(
                f"topic {name!r} is there with {found.replication} replicas, not {replication}"
            )
        for setting, wanted in config.items():
            if settings.get(setting) != wanted:
                raise InvalidSink(
                    f"topic {name!r} is there with {setting}={settings.get(setting)}, not {wanted}"
                )
        return found

    def _settled(self, name: str) -> tuple[Topic, Mapping[str, str]]:
        """The description of a new topic, once all brokers have heard of it."""
        deadline = clock.monotonic() + _CALL_SECONDS
        while True:
            try:
                return self._described(name)
            except KafkaException as error:
                is_unknown = error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART
                if not is_unknown or clock.monotonic() > deadline:
                    raise
                clock.sleep(_LOOK_SECONDS)

    def find(self, name: str) -> Topic | None:
        """The topic as it is now, if it is there (raises KafkaException)."""
        try:
            return self._described(name)[0]
        except KafkaException as error:
            if error.args[0].code() == KafkaError.UNKNOWN_TOPIC_OR_PART:
                return None
            raise

    def expect_answer(self, name: str, seconds: float) -> None:
        """Ask for a topic, so as to hear of a broker (raises KafkaException where none answers)."""
        self._admin.list_topics(name, timeout=seconds)

    def faults(self, views: Mapping[str, Published]) -> dict[str, IvmError]:
        """Why views cannot be published to their topics at present, by view.

        Those that nothing is known against are left out, as all are where no broker answers.
        """
        if not views:
            return {}
        asked = self._admin.describe_topics(
            TopicCollection([view.topic for view in views.values()]),
            include_authorized_operations=True,
            request_timeout=_SHORT_SECONDS,
        )
        found: dict[str, IvmError] = {}
        for name, view in views.items():
            try:
                fault = self._fault(name, view, asked[view.topic].result())
            except KafkaException as error:
                is_told = error.args[0].code() in (*DENIED, KafkaError.UNKNOWN_TOPIC_OR_PART)
                fault = refused(name, view.topic, error.args[0]) if is_told else None
            if fault is not None:
                found[name] = fault
        return found

    def _fault(self, name: str, view: Published, topic: Any) -> IvmError | None:
        """Why a view cannot be published to its topic (raises KafkaException)."""
        if str(topic.topic_id) != view.topic_id:
            return recreated(name, view.topic)
        if topic.is_internal:
            return InvalidSink(f"topic {view.topic!r} is the broker's own; choose another")
        operations = topic.authorized_operations
        if operations is not None and AclOperation.WRITE not in operations:
            return refused(name, view.topic, KafkaError(KafkaError.TOPIC_AUTHORIZATION_FAILED))
        return self._out_of_sync(name, view, topic)

    def _out_of_sync(self, name: str, view: Published, topic: Any) -> IvmError | None:
        """A partition with too few replicas in sync to take records, if that may be known."""
        try:
            least = int(self._settings(view.topic, _SHORT_SECONDS)["min.insync.replicas"])
        except KafkaException:
            return None
        for partition in topic.partitions:
            # No topic needs more of them than it has.
            needed = min(least, len(partition.replicas))
            if partition.leader is None or len(partition.isr) < needed:
                return BrokerRefused(
                    f"view {name!r}, topic {view.topic!r}: partition {partition.id} has "
                    f"{len(partition.isr)} replicas in sync, and takes records with {needed} "
                    "(min.insync.replicas); bring its brokers back",
                    f"view {name}",
                    "sink.topic",
                )
        return None

    def _settings(self, name: str, seconds: float) -> Mapping[str, str]:
        resource = ConfigResource(ResourceType.TOPIC, name)
        entries = self._admin.describe_configs([resource], request_timeout=seconds)
        return {key: entry.value for key, entry in entries[resource].result().items()}

    def _described(self, name: str) -> tuple[Topic, Mapping[str, str]]:
        asked = self._admin.describe_topics(TopicCollection([name]), request_timeout=_CALL_SECONDS)
        settings = self._settings(name, _CALL_SECONDS)
        topic = asked[name].result()
        limit = int(settings["max.message.bytes"])
        replicas = min(len(partition.replicas) for partition in topic.partitions)
        return Topic(name, str(topic.topic_id), len(topic.partitions), replicas, limit), settings
