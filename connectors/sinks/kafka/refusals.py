"""Errors of a broker about one topic, as errors of the view that is published there.

A `BrokerRefused` may pass: someone grants a right, or brings a replica back. Any other error
lasts until the view or its topic is another one.
"""

from confluent_kafka import KafkaError

from connectors.errors import BrokerRefused, InvalidSink, RecordTooLarge, TopicRecreated
from ivm.errors import IvmError

# Errors by which a broker denies its user a request.
DENIED = (
    KafkaError.TOPIC_AUTHORIZATION_FAILED,
    KafkaError.CLUSTER_AUTHORIZATION_FAILED,
)

_REMEDIES = {
    **dict.fromkeys(DENIED, "let the connection's user make, describe and write it"),
    KafkaError.MSG_SIZE_TOO_LARGE: "raise its max.message.bytes, then make the view anew",
    KafkaError.INVALID_RECORD: "a compacted topic takes no record without a key, as 'delta' has",
    KafkaError.UNKNOWN_TOPIC_OR_PART: "it was deleted; drop the view and make it anew",
}


def is_too_large(error: KafkaError) -> bool:
    """Whether a broker refused a record, or a batch of them, for its size."""
    return bool(error.code() == KafkaError.MSG_SIZE_TOO_LARGE)


def refused(view: str, topic: str, error: KafkaError) -> IvmError:
    """The error of a view whose topic was not written for `error`."""
    remedy = _REMEDIES.get(error.code())
    told = f"view {view!r}, topic {topic!r}: {error.str()}{'; ' if remedy else ''}{remedy or ''}"
    if is_too_large(error):
        return RecordTooLarge(told)
    if error.code() == KafkaError.INVALID_RECORD:
        return InvalidSink(told)
    return BrokerRefused(told, f"view {view}", "sink.topic")


def recreated(view: str, topic: str) -> TopicRecreated:
    """The error of a view whose topic is not the one that it was published to."""
    return TopicRecreated(
        f"view {view!r}, topic {topic!r}: the topic was deleted or made anew; drop the view and "
        "make it anew, to publish it from a snapshot"
    )
