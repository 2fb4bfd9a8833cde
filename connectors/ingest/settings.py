"""Settings of a pipeline, and what a table needs of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from pydantic import SecretStr

from connectors.connections import Connection
from connectors.errors import InvalidTable
from connectors.formats.schema_registry import Registry, config_of, registry
from connectors.spark.session import LOOPBACK
from connectors.tables.spec import TableSpec

Trigger = Literal["micro-batch", "real-time"]
Isolation = Literal["table", "all"]


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """Settings of a pipeline: its topics, its directories, and the limits of Spark.

    `topics` is the root of the file topics; `work` a directory for disposable files.
    `batch_records` bounds the records of one micro-batch, from the file topics and from each of
    `connections`. `trigger` chooses between micro-batches and records as they come. `jars` are
    further ones on Spark's class path. `isolation` says what a table that cannot be read on holds
    up: itself, or all. `service` names the consumer group that tells brokers how far sources are.
    Executors of Spark reach this process at `host`, those that know the `secret` if there is one;
    so many of its slots are `taken` by others.
    """

    topics: Path
    work: Path
    master: str = "local[2]"
    driver_memory: str = "2g"
    batch_records: int = 400_000
    connections: Mapping[str, Connection] = field(default_factory=dict)
    jars: Path | None = None
    trigger: Trigger = "micro-batch"
    isolation: Isolation = "table"
    service: str = "ivm"
    host: str = LOOPBACK
    secret: SecretStr | None = None
    taken: int = 0

    def check_trigger(self, spec: TableSpec) -> None:
        """Raise InvalidTable for a table that the trigger does not read."""
        if self.trigger == "real-time" and not spec.is_remote:
            raise InvalidTable(
                f"table {spec.name!r}: connector: real-time mode reads Kafka alone; set "
                "the setting trigger to micro-batch to read file topics"
            )

    def registry_of(self, spec: TableSpec | None) -> Registry | None:
        """The registry beside the cluster of a table, if there is one."""
        connection = self.connections.get((spec.connection if spec is not None else None) or "")
        config = config_of(connection) if connection is not None else None
        return registry(config) if config is not None else None
