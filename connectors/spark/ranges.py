"""Chooses the ranges of Kafka topics for each micro-batch, and cuts them into tasks."""

import time as clock
from collections.abc import Iterable, Mapping
from typing import Any

from connectors.kafka.clusters import Feed, starts_of
from connectors.kafka.consumers import unreadable
from connectors.kafka.fetch import OffsetRange
from connectors.kafka.topics import Cluster
from connectors.spark.planner import SMALL_BATCH, share

# How often partitions that are new are looked for, in seconds.
_PERIOD = 1.0

# The offset after the last record read, by topic and partition.
Ends = Mapping[tuple[str, int], int]


class Ranges:
    """Follows the topics of a feed; one per streaming query. All of it may raise BrokerFault."""

    def __init__(self, feed: Feed) -> None:
        """Nothing is asked of the brokers yet."""
        self._feed = feed
        self._cluster = Cluster(feed.connection)
        self._partitions: list[tuple[str, int]] = []
        self._looked = float("-inf")

    def start(self) -> Ends:
        """Where the query begins."""
        return starts_of(self._feed)

    def latest(self, start: Ends, limit: int) -> Ends:
        """The end of the micro-batch that begins at `start`, of at most about `limit` records.

        Partitions that `start` lacks begin at their first offset.
        """
        partitions = self._look()
        ends = self._cluster.ends(partitions)
        begins = self.begins(start, partitions)
        for (topic, partition), end in ends.items():
            if end < begins[topic, partition]:
                raise unreadable(
                    self._feed.connection,
                    f"topic {topic!r}, partition {partition}: it ends at offset {end}, but reading "
                    f"has come to {begins[topic, partition]}",
                )
        available = {at: end - begins[at] for at, end in ends.items()}
        return {**begins, **{at: begins[at] + n for at, n in share(available, limit).items()}}

    def tasks(self, start: Ends, end: Ends, parallelism: int) -> list[list[OffsetRange]]:
        """What lies between two positions, as up to `parallelism` even shares."""
        begins = self.begins(start, end)
        ranges = [
            OffsetRange(topic, partition, begins[topic, partition], stop)
            for (topic, partition), stop in end.items()
            if begins[topic, partition] < stop
        ]
        return shares(ranges, parallelism)

    def begins(self, start: Ends, partitions: Iterable[tuple[str, int]]) -> Ends:
        """`start`, in which none of these partitions is missing: others begin where they do."""
        new = [at for at in partitions if at not in start]
        return {**self._cluster.firsts(new), **start}

    def _look(self) -> list[tuple[str, int]]:
        if clock.monotonic() > self._looked + _PERIOD:
            topics = self._cluster.topics(self._feed.tables)
            self._partitions = [(t.name, p) for t in topics.values() for p in t.partitions]
            self._looked = clock.monotonic()
        return self._partitions


def shares(ranges: list[OffsetRange], parallelism: int) -> list[list[OffsetRange]]:
    """Cut `ranges`, laid end to end, into tasks of as many offsets each; none of them empty.

    >>> shares([OffsetRange("t", 0, 5, 10), OffsetRange("t", 1, 0, 3)], 2)[0][0].end
    10
    """
    total = sum(r.end - r.first for r in ranges)
    size = total if total <= SMALL_BATCH else -(-total // parallelism)
    tasks: list[list[OffsetRange]] = []
    room = 0
    for r in ranges:
        first = r.first
        while first < r.end:
            if not room:
                tasks.append([])
                room = size
            count = min(room, r.end - first)
            tasks[-1].append(OffsetRange(r.topic, r.partition, first, first + count))
            first, room = first + count, room - count
    return tasks


def count_of(tasks: list[list[OffsetRange]]) -> int:
    """The number of offsets in ranges."""
    return sum(r.end - r.first for ranges in tasks for r in ranges)


def to_json(ends: Ends) -> dict[str, Any]:
    """Ends as Spark keeps them: JSON with string keys."""
    found: dict[str, Any] = {}
    for (topic, partition), end in ends.items():
        found.setdefault(topic, {})[str(partition)] = end
    return found


def from_json(value: dict[str, Any]) -> Ends:
    """The ends of `to_json`."""
    return {(topic, int(p)): end for topic, ends in value.items() for p, end in ends.items()}
