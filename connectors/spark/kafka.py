"""The function that decodes records of Kafka into chunks, wherever they were read."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import pyarrow as pa

from connectors.attribution import reading
from connectors.formats.schema_registry import RegistryConfig, config_of, registry
from connectors.kafka.clusters import Feed
from connectors.records import Records
from connectors.spark.chunks import Deal, as_they_are, encode
from connectors.tables.spec import TableSpec


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

    def chunks(
        self, topic: str, records: Records, deal: Deal = as_they_are
    ) -> Iterator[pa.RecordBatch]:
        """A row for each table of the topic, whose rows travel as what `deal` makes of them."""
        schemas = registry(self.config) if self.config is not None else None
        for key, table in self.tables[topic].items():
            with reading(table.name):
                chunk = encode(key, table, records, schemas, deal)
            yield chunk
