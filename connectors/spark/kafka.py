"""Kafka topics in, decoded chunks out: Spark's own Kafka source, and the function that decodes.

Spark reads each partition in order from the offset that it is told, the records of committed
transactions only, and fails rather than pass over records that are gone.
"""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from connectors.formats.schema_registry import RegistryConfig, config_of, registry
from connectors.kafka.clusters import Feed
from connectors.records import Headers, Records
from connectors.spark.chunks import SPARK_SCHEMA, encode
from connectors.tables.spec import TableSpec

# Options of Kafka's client. A broker that is away for longer ends the query, and is waited for by
# the keeper, which tells that it waits; with the client's own minutes a stop would hang as long.
_CLIENT = {
    "isolation.level": "read_committed",
    "request.timeout.ms": "10000",
    "default.api.timeout.ms": "15000",
}
_IN_BATCHES = {
    # Spark asks for a partition's bounds after each poll, which by default gives 500 records.
    "kafka.max.poll.records": "10000",
    # A request under way for records that are not there holds up the one for those that are,
    # as a poll follows a seek.
    "kafka.fetch.max.wait.ms": "10",
}


def chunks_of(spark: SparkSession, feed: Feed, limit: int) -> DataFrame:
    """The chunks of `feed`, about `limit` records in a micro-batch."""
    parallelism = spark.sparkContext.defaultParallelism
    options = {"maxOffsetsPerTrigger": str(limit), "minPartitions": str(parallelism)}
    records = records_of(spark, feed, **options, **_IN_BATCHES)
    # A task per partition would cost more than it reads.
    return records.coalesce(parallelism).mapInArrow(decoder(feed), SPARK_SCHEMA)


def records_of(spark: SparkSession, feed: Feed, **options: str) -> DataFrame:
    """The rows of Spark's Kafka source."""
    starts = {t: {str(p): offset for p, offset in ps.items()} for t, ps in feed.starts.items()}
    source = spark.readStream.format("kafka").options(
        subscribe=",".join(feed.tables),
        startingOffsets=orjson.dumps(starts).decode(),
        failOnDataLoss="true",
        includeHeaders="true",
        **options,
    )
    for name, value in {**feed.connection.java(), **_CLIENT}.items():
        source = source.option(f"kafka.{name}", value)
    return source.load()


def decoder(feed: Feed) -> "Decoder":
    """The function that decodes the records of the topics of `feed`."""
    return Decoder(feed.tables, config_of(feed.connection))


@dataclass(frozen=True, slots=True)
class Decoder:
    """Travels to executors, and makes chunks of records there.

    `tables` are those that each topic feeds, by their keys; `config` is where the schemas of
    writers are. All methods raise RegistryUnavailable.
    """

    tables: Mapping[str, Mapping[str, TableSpec]]
    config: RegistryConfig | None

    def __call__(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Rows of Spark's Kafka source to rows of chunks, for every table of a topic.

        Each partition's rows come in the order of their offsets.
        """
        # Decoding makes many objects and no cycles; looking for cycles takes a third of the time.
        gc.disable()
        try:
            for batch in batches:
                for topic, records in _runs(batch):
                    yield from self.chunks(topic, records)
            _keep_modules()
        finally:
            gc.enable()

    def chunks(self, topic: str, records: Records) -> Iterator[pa.RecordBatch]:
        """A row for each table of the topic."""
        schemas = registry(self.config) if self.config is not None else None
        for key, table in self.tables[topic].items():
            yield encode(key, table, records, schemas)


@cache
def _keep_modules() -> None:
    """Exclude the modules' objects from the full collection that Spark makes after each task.

    It takes 30 ms of a small task otherwise.
    """
    gc.collect()
    gc.freeze()


def _runs(batch: pa.RecordBatch) -> Iterator[tuple[str, Records]]:
    """The rows of a batch as consecutive records of one partition after another."""
    if not batch.num_rows:
        return
    topics, partitions = batch["topic"], batch["partition"].to_numpy()
    changes = np.flatnonzero(
        (partitions[1:] != partitions[:-1])
        | pc.not_equal(topics[1:], topics[:-1]).to_numpy(zero_copy_only=False)
    )
    bounds = [0, *(changes + 1).tolist(), batch.num_rows]
    for begin, end in pairwise(bounds):
        yield topics[begin].as_py(), _records(batch.slice(begin, end - begin))


def _records(rows: pa.RecordBatch) -> Records:
    timestamps: Any = pc.divide(rows["timestamp"].cast(pa.int64()), 1000)
    return Records(
        values=rows["value"].to_pylist(),
        offsets=rows["offset"].to_numpy().tolist(),
        partition=rows["partition"][0].as_py(),
        keys=rows["key"].to_pylist(),
        timestamps=timestamps.to_pylist(),
        headers=_headers(rows["headers"]),
    )


def _headers(column: pa.Array) -> Sequence[Headers | None] | None:
    if column.null_count == len(column):
        return None
    return [
        None if row is None else [(header["key"], header["value"]) for header in row]
        for row in column.to_pylist()
    ]
