"""The Spark data sources of Kafka topics: decoded chunks of the ranges that are planned.

librdkafka reads the ranges where they are decoded, in the processes that Spark runs Python in, so
that the JVM has a row for thousands of records. There is a source for each connection, whose class
travels with its feed: what a connection keeps secret is never an option, which Spark would show.
"""

import gc
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any, ClassVar

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.datasource import DataSource, DataSourceStreamReader, InputPartition
from pyspark.sql.streaming.datasource import ReadLimit, ReadMaxRows
from pyspark.sql.types import StructType

from connectors.connections import Connection
from connectors.kafka.clusters import Feed
from connectors.kafka.fetch import Fetcher, OffsetRange
from connectors.spark.chunks import SPARK_SCHEMA
from connectors.spark.idling import Idling
from connectors.spark.kafka import Decoder, decoder
from connectors.spark.ranges import Ranges, from_json, to_json

# The clients that a process of Spark's keeps from one task to the next, by their connections.
_fetchers: dict[Connection, Fetcher] = {}


def chunks_of(spark: SparkSession, feed: Feed, limit: int, parallelism: int) -> DataFrame:
    """The chunks of `feed`, about `limit` records in a micro-batch, in so many tasks at most."""
    source = _source(feed)
    spark.dataSource.register(source)
    stream = spark.readStream.format(source.name()).option("limit", limit)
    return stream.option("parallelism", parallelism).load()


def _source(given: Feed) -> type["KafkaTopics"]:
    class Source(KafkaTopics):
        """The source of one connection; Spark takes its class along by value."""

        feed = given

        @classmethod
        def name(cls) -> str:
            return f"ivm_kafka_{given.connection.name}"

    return Source


class KafkaTopics(DataSource):
    """Options: `limit` (records per micro-batch), `parallelism`."""

    feed: ClassVar[Feed]

    def schema(self) -> str:
        return SPARK_SCHEMA

    def streamReader(  # noqa: N802
        self, schema: StructType
    ) -> DataSourceStreamReader:
        return KafkaReader(self.feed, int(self.options["limit"]), int(self.options["parallelism"]))


class Task(InputPartition):
    """The ranges that one Spark task decodes."""

    def __init__(self, ranges: Sequence[OffsetRange]) -> None:
        super().__init__(ranges)


class KafkaReader(DataSourceStreamReader):
    """Plans in one process for the whole query; reads without state in those of the executors."""

    def __init__(self, feed: Feed, limit: int, parallelism: int) -> None:
        self._feed = feed
        self._decoder: Decoder = decoder(feed)
        self._limit = limit
        self._parallelism = parallelism
        self._ranges: Ranges | None = None
        self._idling = Idling()

    def initialOffset(self) -> dict[str, Any]:  # noqa: N802
        return to_json(self._plan().start())

    def getDefaultReadLimit(self) -> ReadLimit:  # noqa: N802
        return ReadMaxRows(self._limit)

    def latestOffset(  # noqa: N802
        self, start: dict[str, Any], limit: ReadLimit
    ) -> dict[str, Any]:
        rows = limit.max_rows if isinstance(limit, ReadMaxRows) else self._limit
        self._idling.pause()
        end = to_json(self._plan().latest(from_json(start), rows))
        self._idling.note(end != start)
        return end

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> list[InputPartition]:
        tasks = self._plan().tasks(from_json(start), from_json(end), self._parallelism)
        return [Task(ranges) for ranges in tasks]

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        # Decoding makes many objects and no cycles; looking for cycles takes a third of the time.
        gc.disable()
        try:
            for topic, records in _fetched(self._feed.connection, partition.value):
                yield from self._decoder.chunks(topic, records)
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
