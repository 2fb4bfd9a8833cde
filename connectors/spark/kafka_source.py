"""The Spark data sources of Kafka topics: tasks that decode the ranges that are planned.

librdkafka reads the ranges where they are decoded, in the processes that Spark runs Python in, and
the chunks go from there to the endpoint of the query. There is a source for each connection, whose
class travels with its feed: what a connection keeps secret is never an option, which Spark would
show.
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

import orjson
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from connectors.connections import Connection
from connectors.kafka.clusters import Feed
from connectors.kafka.fetch import Fetcher, OffsetRange
from connectors.kafka.follow import Follower
from connectors.spark.chunks import SPARK_SCHEMA, Deal
from connectors.spark.endpoint import Address, Part, Putter, parts_of
from connectors.spark.idling import Idling
from connectors.spark.kafka import Decoder, decoder
from connectors.spark.planner import SMALL_BATCH
from connectors.spark.ranges import Ends, Ranges, count_of, from_json, to_json
from connectors.spark.relay import relay

# The clients that a process of Spark's keeps from one task to the next, by their connections.
_fetchers: dict[Connection, Fetcher] = {}
_followers: dict[Connection, Follower] = {}

# After so many full pieces in a row, a task that follows topics leaves the rest to a batch that all
# processors share.
_MOST_FULL = 3


def kafka_topics(
    spark: SparkSession,
    given: Feed,
    most: int,
    tasks: int,
    endpoint: Address,
    followed: Path | None,
) -> DataFrame:
    """The topics of `given`, about `most` records in a micro-batch, decoded by up to `tasks`.

    Where little comes, one task follows them until more does, and leaves in the file `followed`
    where it ended; unless that is None.
    """

    class Source(KafkaTopics):
        """The source of one connection; Spark takes its class along by value."""

        feed, limit, parallelism, address = given, most, tasks, endpoint
        note = followed

        @classmethod
        def name(cls) -> str:
            return f"ivm_kafka_{given.connection.name}"

    spark.dataSource.register(Source)
    return spark.readStream.format(Source.name()).load()


class KafkaTopics(DataSource):
    """A source of one query; its rows, of which there are none, are chunks."""

    feed: ClassVar[Feed]
    limit: ClassVar[int]
    parallelism: ClassVar[int]
    address: ClassVar[Address]
    note: ClassVar[Path | None]

    def schema(self) -> str:
        return SPARK_SCHEMA

    def streamReader(  # noqa: N802
        self, schema: StructType
    ) -> DataSourceStreamReader:
        return KafkaReader(self.feed, self.limit, self.parallelism, self.address, self.note)


class Task(InputPartition):
    """The ranges that one Spark task decodes, and the part of a batch that they are."""

    def __init__(self, ranges: Sequence[OffsetRange], part: Part) -> None:
        super().__init__((ranges, part))


class Following(InputPartition):
    """The positions from which one task follows all partitions."""

    def __init__(self, starts: Ends) -> None:
        super().__init__(starts)


class KafkaReader(DataSourceStreamReader):
    """Plans in one process for the whole query; reads without state in those of the executors.

    A task that follows topics reads beyond the end that Spark was told: what is planned next begins
    where it ended, as the file `note` says. Were that lost, records would come a second time.
    """

    def __init__(
        self, feed: Feed, limit: int, parallelism: int, address: Address, note: Path | None
    ) -> None:
        self._feed = feed
        self._decoder: Decoder = decoder(feed)
        self._limit = limit
        self._parallelism = parallelism
        self._address = address
        self._note = note
        self._ranges: Ranges | None = None
        self._idling = Idling()
        self._numbers = count()

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return to_json(self._plan().start())

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._limit)

    def latestOffset(  # noqa: N802
        self, start: dict[str, Any], limit: ReadLimit
    ) -> dict[str, Any]:
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else self._limit
        self._idling.pause()
        end = to_json(self._plan().latest(self._reached(start), rows))
        self._idling.note(end != start)
        return end

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        begins = self._reached(start)
        tasks = self._plan().tasks(begins, from_json(end), self._parallelism) or [[]]
        if self._note is not None and count_of(tasks) <= SMALL_BATCH:
            return [Following(self._plan().begins(begins, from_json(end)))]
        parts = parts_of(self._feed.connection.name, next(self._numbers), len(tasks))
        return [Task(ranges, part) for ranges, part in zip(tasks, parts, strict=True)]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        with closing(Putter(self._address)) as putter:
            if isinstance(partition, Following):
                self._follow(partition.value, putter)
            else:
                ranges, part = partition.value
                putter.put(self._decoded(ranges, putter.deal), part)
        return iter(())  # what is read does not pass through Spark

    def _follow(self, starts: Ends, putter: Putter) -> None:
        assert self._note is not None
        connection = self._feed.connection
        follower = _followers.pop(connection, None) or Follower(connection)
        is_whole = False
        try:
            follower.begin(starts)
            decode = partial(self._decoder.chunks, deal=putter.deal)
            relay(follower.read, decode, putter, _MOST_FULL)
            follower.rest()
            is_whole = True
        finally:
            if is_whole:
                _followers[connection] = follower
            else:
                follower.close()
        staged = self._note.with_suffix(".new")
        staged.write_bytes(orjson.dumps(to_json(follower.positions)))
        staged.replace(self._note)

    def _reached(self, start: dict[str, Any]) -> Ends:
        """The positions after what was planned and what was followed."""
        reached = from_json(start)
        if self._note is not None and self._note.exists():
            followed = from_json(orjson.loads(self._note.read_bytes()))
            reached = {**reached, **{at: max(n, reached.get(at, n)) for at, n in followed.items()}}
        return reached

    def _decoded(self, ranges: Sequence[OffsetRange], deal: Deal) -> Iterator[pa.RecordBatch]:
        # Decoding makes many objects and no cycles; looking for cycles takes a third of the time.
        gc.disable()
        try:
            for topic, records in _fetched(self._feed.connection, ranges):
                yield from self._decoder.chunks(topic, records, deal)
        finally:
            gc.enable()

    def _plan(self) -> Ranges:
        if self._ranges is None:
            self._ranges = Ranges(self._feed)
        return self._ranges


def _fetched(connection: Connection, ranges: Sequence[OffsetRange]) -> Iterator[Any]:
    """What `Fetcher.read` gives; a client that was not read to the end is not used again."""
    fetcher = _fetchers.pop(connection, None) or Fetcher(connection)
    is_whole = False
    try:
        yield from fetcher.read(ranges)
        is_whole = True
    finally:
        if is_whole:
            _fetchers[connection] = fetcher
        else:
            with suppress(RuntimeError):
                fetcher.close()
