"""Kafka topics in, decoded chunks out: Spark's own Kafka source, and the function that decodes.

Spark reads each partition in order from the offset that it is told, the records of committed
transactions only, and fails rather than pass over records that are gone. Its source has a row for
each record, so that only real-time mode uses it, which knows no other.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import orjson
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from connectors.attribution import reading
from connectors.formats.schema_registry import RegistryConfig, config_of, registry
from connectors.kafka.clusters import Feed
from connectors.records import Records
from connectors.spark.chunks import encode
from connectors.tables.spec import TableSpec

# Options of Kafka's client. A broker that is away for longer ends the query, and is waited for by
# the keeper, which tells that it waits; with the client's own minutes a stop would hang as long.
_CLIENT = {
    "isolation.level": "read_committed",
    "request.timeout.ms": "10000",
    "default.api.timeout.ms": "15000",
}


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

    def chunks(self, topic: str, records: Records) -> Iterator[pa.RecordBatch]:
        """A row for each table of the topic."""
        schemas = registry(self.config) if self.config is not None else None
        for key, table in self.tables[topic].items():
            with reading(table.name):
                chunk = encode(key, table, records, schemas)
            yield chunk
