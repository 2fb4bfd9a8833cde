"""A broker that refuses to take a topic's records, for each cause that one can have.

Every cause is the broker's own: a right that is taken, a topic that is deleted, a setting.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from confluent_kafka import KafkaException, TopicCollection
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    ResourcePatternType,
    ResourceType,
)

from tests.kafka.broker import PASSWORD, USER, Broker
from tests.kafka.client import Kafka
from tests.kafka.java import await_true

_AUTHORIZED = {
    "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users": "User:ANONYMOUS",
}
# A user that may do everything, as long as nobody forbids it.
CONNECTION: dict[str, Any] = {
    "security_protocol": "SASL_PLAINTEXT",
    "sasl_mechanism": "PLAIN",
    "sasl_username": USER,
    "sasl_password": PASSWORD,
}


@contextmanager
def authorizing(directory: Path) -> Iterator[Broker]:
    """A broker that asks who its users are and what they may; without a password one may all."""
    with Broker.started(directory, secured=True, settings=_AUTHORIZED) as broker:
        kinds = (ResourceType.TOPIC, ResourceType.GROUP, ResourceType.TRANSACTIONAL_ID)
        rules = [_rule(kind, "*", AclOperation.ALL, AclPermissionType.ALLOW) for kind in kinds]
        cluster = ResourceType.BROKER, "kafka-cluster"
        rules.append(_rule(*cluster, AclOperation.ALL, AclPermissionType.ALLOW))
        admin = broker.admin()
        for done in admin.create_acls(rules).values():
            done.result()
        yield broker


@contextmanager
def without_making_topics(broker: Broker) -> Iterator[None]:
    """The user may make no topic for a while."""
    admin = broker.admin()
    places = [(ResourceType.BROKER, "kafka-cluster"), (ResourceType.TOPIC, "*")]
    rules = [_rule(*place, AclOperation.CREATE, AclPermissionType.DENY) for place in places]
    for made in admin.create_acls(rules).values():
        made.result()
    try:
        yield
    finally:
        for rule in rules:
            [done] = admin.delete_acls([_exactly(rule)]).values()
            done.result()


def _exactly(rule: AclBinding) -> AclBindingFilter:
    return AclBindingFilter(
        rule.restype,
        rule.name,
        rule.resource_pattern_type,
        rule.principal,
        rule.host,
        rule.operation,
        rule.permission_type,
    )


@dataclass(frozen=True)
class Cause:
    """Why a topic takes no records; `code` is that of the error, and of a lasting failure.

    A view that is published there `fails`, or it `stalls`; then it goes on by itself once `mend`
    was called, but for a topic that is gone.
    """

    name: str
    code: str
    fate: Literal["fails", "stalls"]
    do: Callable[[Broker, str], None]
    mend: Callable[[Broker, str], None]

    @property
    def passes(self) -> bool:
        """Whether a view that met it can go on."""
        return self.fate == "stalls" and self is not DELETED

    def __str__(self) -> str:
        return self.name


def _rule(
    kind: ResourceType, name: str, operation: AclOperation, permission: AclPermissionType
) -> AclBinding:
    pattern = ResourcePatternType.LITERAL
    return AclBinding(kind, name, pattern, f"User:{USER}", "*", operation, permission)


def _denied(topic: str, operation: AclOperation) -> AclBinding:
    return _rule(ResourceType.TOPIC, topic, operation, AclPermissionType.DENY)


def forbid(broker: Broker, topic: str, operation: AclOperation = AclOperation.WRITE) -> None:
    """Take a right to a topic from the user."""
    admin = broker.admin()
    for done in admin.create_acls([_denied(topic, operation)]).values():
        done.result()
    await_true("the rule", lambda: not _may(broker, topic, operation))


def allow(broker: Broker, topic: str, operation: AclOperation = AclOperation.WRITE) -> None:
    """Give it back."""
    admin = broker.admin()
    for done in admin.delete_acls([_exactly(_denied(topic, operation))]).values():
        done.result()
    await_true("the rule's end", lambda: _may(broker, topic, operation))


def _may(broker: Broker, topic: str, operation: AclOperation) -> bool:
    user = Kafka(
        broker.addresses["SASL_PLAINTEXT"],
        {name.replace("_", "."): value for name, value in CONNECTION.items()},
    )
    admin = user.admin()
    asked = admin.describe_topics(TopicCollection([topic]), include_authorized_operations=True)
    return operation in (asked[topic].result().authorized_operations or ())


def _delete(broker: Broker, topic: str) -> None:
    broker.delete_topic(topic)
    await_true("the deletion", lambda: not _is_there(broker, topic))


def _is_there(broker: Broker, topic: str) -> bool:
    try:
        broker.partitions(topic)
    except KafkaException:
        return False
    return True


def _make(broker: Broker, topic: str) -> None:
    """A topic that is deleted is made by whoever puts the view anew."""


def _setting(name: str, bad: str, good: str) -> dict[str, Callable[[Broker, str], None]]:
    return {
        "do": lambda broker, topic: broker.configure_topic(topic, {name: bad}),
        "mend": lambda broker, topic: broker.configure_topic(topic, {name: good}),
    }


FORBIDDEN = Cause("forbidden", "broker-refused", "stalls", forbid, allow)
DELETED = Cause("deleted", "broker-refused", "stalls", _delete, _make)
SETTINGS = [
    Cause(
        "too large",
        "record-too-large",
        "fails",
        **_setting("max.message.bytes", "200", "100000"),
    ),
    Cause("compacted", "invalid-sink", "fails", **_setting("cleanup.policy", "compact", "delete")),
]
