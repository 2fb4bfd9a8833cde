"""Chooses the records of each micro-batch and cuts them into tasks: the source without Spark.

First the journaled cuts are passed, one or several whole ones at a time; then whatever the topics
hold, bounded, and shared fairly among the partitions that have more than their share.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from connectors.attribution import reading
from connectors.errors import TopicTruncated
from connectors.files.index import Span
from connectors.files.reader import TopicReader
from connectors.spark.control import Control, Position
from connectors.tables.spec import TableSpec

# Below this, starting a second task costs more than it saves.
SMALL_BATCH = 8_192

Ends = dict[str, dict[int, int]]


@dataclass(frozen=True, slots=True)
class Work:
    """One span of records to decode for a table."""

    key: str
    partition: int
    table: TableSpec
    span: Span


class Planner:
    """Follows the control file and the topics; one per streaming query."""

    def __init__(self, control: Path) -> None:
        self._path = control
        self._stamp: tuple[int, int] | None = None
        self._readers: dict[str, TopicReader] = {}
        self._reload()

    def start(self) -> Position:
        """The position at which the query begins."""
        self._reload()
        return self._control.start

    def latest(self, start: Position, limit: int) -> Position:
        """The end of the micro-batch that begins at `start`, of at most about `limit` records.

        A single journaled cut is never split. Raises TopicTruncated when a topic ends before
        `start`.
        """
        self._reload()
        if any(cut.time > start.time for cut in self._control.cuts):
            return self._replayed(start, limit)
        return Position(start.time, self._grown(start, limit))

    def tasks(self, start: Position, end: Position, parallelism: int) -> list[list[Work]]:
        """The records between two positions, as up to `parallelism` even shares."""
        self._reload()
        work = []
        for key, partitions in end.ends.items():
            table = self._control.tables.get(key)
            if table is None:
                continue
            with reading(table.name):
                reader = self._reader(table.topic)
                for partition, stop in partitions.items():
                    begin = start.ends.get(key, {}).get(partition)
                    if begin is None:
                        begin = reader.first(partition)
                    if begin < stop:
                        spans = reader.spans(partition, begin, stop)
                        work += [Work(key, partition, table, span) for span in spans]
        return _shares(work, parallelism)

    def _reload(self) -> None:
        stat = self._path.stat()
        stamp = (stat.st_ino, stat.st_mtime_ns)
        if stamp != self._stamp:
            self._control = Control.load(self._path)
            self._stamp = stamp

    def _reader(self, topic: str) -> TopicReader:
        if topic not in self._readers:
            reader = TopicReader(self._control.topics, topic)
            reader.ends()
            self._readers[topic] = reader
        return self._readers[topic]

    def _replayed(self, start: Position, limit: int) -> Position:
        """`start` moved over whole cuts: at least one, further ones while they fit."""
        ends = _copy(start.ends)
        time, records = start.time, 0
        for cut in self._control.cuts:
            if cut.time <= start.time:
                continue
            if records and records + cut.records > limit:
                break
            records += cut.records
            time = cut.time
            for key, partition, end in cut.ends:
                ends.setdefault(key, {})[partition] = end
        return Position(time, ends)

    def _grown(self, start: Position, limit: int) -> Ends:
        """The ends of all present tables, at most `limit` records beyond `start`."""
        available: dict[tuple[str, int], int] = {}
        ends: Ends = {}
        for key, table in self._control.tables.items():
            with reading(table.name):
                bounds = self._bounds(table.topic, start.ends.get(key, {}))
            for partition, (begin, end) in bounds.items():
                ends.setdefault(key, {})[partition] = begin
                available[key, partition] = end - begin
        for (key, partition), count in share(available, limit).items():
            ends[key][partition] += count
        return ends

    def _bounds(self, topic: str, begins: Mapping[int, int]) -> dict[int, tuple[int, int]]:
        """Where reading is in each partition of a topic, and its end (raises TopicTruncated)."""
        reader = self._reader(topic)
        there = reader.ends()
        for partition, begin in begins.items():
            if begin > 0 and partition not in there:
                raise TopicTruncated(
                    f"topic {topic!r}, partition {partition}: it is gone, but reading has come to "
                    f"{begin}"
                )
        bounds = {}
        for partition, end in there.items():
            first = reader.first(partition)
            begin = begins.get(partition, first)
            if not first <= begin <= end:
                raise TopicTruncated(
                    f"topic {topic!r}, partition {partition}: it holds the offsets from {first} to "
                    f"{end - 1}, but reading has come to {begin}"
                )
            bounds[partition] = begin, end
        return bounds


def share(available: Mapping[tuple[str, int], int], limit: int) -> dict[tuple[str, int], int]:
    """Divide `limit` evenly, except that nobody gets more than is available."""
    shares = {}
    left = limit
    ordered = sorted(available.items(), key=lambda item: item[1])
    for served, (who, count) in enumerate(ordered):
        shares[who] = min(count, left // (len(ordered) - served))
        left -= shares[who]
    return shares


def _copy(ends: Mapping[str, Mapping[int, int]]) -> Ends:
    return {key: dict(partitions) for key, partitions in ends.items()}


def _shares(work: list[Work], parallelism: int) -> list[list[Work]]:
    """Spread `work` over tasks of about the same number of records; none of them empty."""
    if sum(item.span.count for item in work) <= SMALL_BATCH:
        parallelism = 1
    tasks: list[list[Work]] = [[] for _ in range(parallelism)]
    loads = [0] * parallelism
    for item in sorted(work, key=lambda item: -item.span.count):
        least = loads.index(min(loads))
        tasks[least].append(item)
        loads[least] += item.span.count
    return [task for task in tasks if task]
