"""The pipeline: from file topics through Spark to a receiver, one logical time after another."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pyspark.sql import SparkSession

from connectors.batches import Receiver
from connectors.progress.journal import Journal
from connectors.quarantine import Quarantine
from connectors.tables import TableSpec

State = Literal["stopped", "starting", "replaying", "running", "stalled", "failed"]


@dataclass(frozen=True, slots=True)
class PipelineSettings:
    """Where the topics are and how Spark runs.

    `topics` is the root of the file topics; `work` a directory for disposable files (Spark's
    checkpoints, the list of tables). `batch_records` bounds the records of one micro-batch.
    """

    topics: Path
    work: Path
    master: str = "local[2]"
    driver_memory: str = "2g"
    batch_records: int = 400_000


@dataclass(frozen=True, slots=True)
class PipelineStatus:
    """A view of the pipeline for `/readyz` and `/metrics`.

    `time` is the last one received (0: none); `records` counts records since the start, replayed
    ones included; `lag` is the number of records per topic not yet received; `error` says why
    the state is `stalled` or `failed`, naming topic, partition, offset and reason for a stall.
    """

    state: State
    error: str | None
    time: int
    records: int
    records_per_second: float
    lag: Mapping[str, int]


class Pipeline:
    """Runs one streaming query over the topics of all tables; methods may be called from any thread."""

    def __init__(
        self,
        settings: PipelineSettings,
        journal: Journal,
        quarantine: Quarantine,
        receiver: Receiver,
        spark: SparkSession | None = None,
    ) -> None:
        """`spark`: a session to use; without one, `start` makes one and `stop` ends it."""
        raise NotImplementedError

    def start(self, tables: Sequence[TableSpec]) -> None:
        """Start reading `tables`; journaled times are replayed first, in order.

        Tables that the journal knows and `tables` lacks are dropped from it.
        Returns when the query runs (some seconds for the JVM); raises JavaMissing.
        """
        raise NotImplementedError

    def wait_replayed(self, timeout: float | None = None) -> bool:
        """Wait until every time journaled before `start` has been received; False on timeout.

        Raises the pipeline's error when it stalls or fails meanwhile.
        """
        raise NotImplementedError

    def add_table(self, spec: TableSpec) -> None:
        """Read one more table from its topic's beginning, within about a second (raises DuplicateTable)."""
        raise NotImplementedError

    def remove_table(self, name: str) -> None:
        """Stop reading a table and forget its positions (raises UnknownTable)."""
        raise NotImplementedError

    def status(self) -> PipelineStatus:
        """The present state; cheap enough for every scrape."""
        raise NotImplementedError

    def stop(self) -> None:
        """Stop the query after the batch under way."""
        raise NotImplementedError
