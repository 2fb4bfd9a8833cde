"""Advice on topics: settings under which a source or a sink loses what it will need."""

from collections.abc import Iterator, Mapping

from connectors.sinks.target import KafkaTarget
from connectors.tables.spec import TableSpec

# A service that is down for less shall find what it has not read (ms).
LEAST_RETENTION = 24 * 3600 * 1000


def on_source(spec: TableSpec, settings: Mapping[str, str]) -> Iterator[str]:
    """Warnings about the settings of a topic that a table reads."""
    policy = settings.get("cleanup.policy", "delete")
    if "compact" in policy and not spec.is_keyed:
        yield (
            "cleanup.policy is compact, and the table counts each record: those that are compacted "
            "away before they are read are missing; take cleanup.policy=delete, or a keyed table"
        )
    if "compact" in policy and 0 <= _number(settings, "delete.retention.ms") < LEAST_RETENTION:
        yield (
            f"delete.retention.ms is {settings['delete.retention.ms']}: a deletion is forgotten "
            "so soon after compaction, and rows stay that a service which was down has not seen go"
        )
    if "delete" in policy and 0 <= _number(settings, "retention.ms") < LEAST_RETENTION:
        yield (
            f"retention.ms is {settings['retention.ms']}: the source stalls for good if the "
            "service is down, or behind, for longer; raise it to a day at least"
        )


def on_sink(target: KafkaTarget, settings: Mapping[str, str]) -> Iterator[str]:
    """Warnings about the settings of a topic that a view is published to."""
    policy = settings.get("cleanup.policy", "delete")
    if "compact" in policy and not target.is_compacted:
        yield (
            "cleanup.policy is compact: deltas of a key that are compacted away are missing from "
            "the sums of readers; take cleanup.policy=delete, or envelope upsert"
        )
    forgets = "compact" not in policy and _number(settings, "retention.ms") >= 0
    if target.is_compacted and forgets:
        yield (
            f"cleanup.policy is {policy}, and retention.ms {settings['retention.ms']}: rows that "
            "did not change for so long are missing for readers who come later; take "
            "cleanup.policy=compact"
        )


def on_replicas(replicas: int, settings: Mapping[str, str]) -> Iterator[str]:
    """Warnings about the replicas of a topic on a cluster of several brokers."""
    if replicas <= _number(settings, "min.insync.replicas"):
        yield (
            f"{replicas} replicas, of which min.insync.replicas wants all in sync: the topic "
            "cannot be written while one broker is away"
        )
    elif replicas == 1:
        yield "it has one replica: records are lost with the disk of its broker"


def _number(settings: Mapping[str, str], name: str) -> int:
    """A setting in numbers; -1, which means without a bound, where there is none."""
    return int(settings.get(name, -1))
