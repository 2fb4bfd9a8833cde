"""Settings of a pipeline."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from connectors.connections import Connection

Trigger = Literal["micro-batch", "real-time"]
Isolation = Literal["table", "all"]


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """Settings of a pipeline: its topics, its directories, and the limits of Spark.

    `topics` is the root of the file topics; `work` a directory for disposable files.
    `batch_records` bounds the records of one micro-batch, from the file topics and from each of
    `connections`. `trigger` chooses between micro-batches and records as they come; for these
    `jars` is where those of Spark's Kafka source are. `isolation` says what a table that cannot be
    read on holds up: itself, or all. `service` names the consumer group that tells brokers how far
    sources are.
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
