"""One Spark for all tests of the connectors, and topics of its own for each test."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from connectors.connections import Connection
from connectors.ingest.pipeline import Pipeline
from connectors.ingest.settings import PipelineSettings, Trigger
from connectors.progress.batches import TimedBatch
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine
from connectors.spark.session import create_session, stop_session
from tests.kafka.java import JARS as ALL_JARS

PATIENCE = 60.0
JARS = ALL_JARS / "spark"


class Collector:
    """A receiver that commits each time, and lets tests wait for what they expect."""

    def __init__(self, journal: Journal) -> None:
        self.batches: list[TimedBatch] = []
        self._journal = journal
        self._arrived = threading.Condition()

    def receive(self, batch: TimedBatch) -> None:
        """Remember, commit."""
        if not batch.committed:
            self._journal.commit(batch.time, {})
        with self._arrived:
            self.batches.append(batch)
            self._arrived.notify_all()

    def wait(self, done: Callable[[], bool]) -> None:
        """Wait until `done`, which is asked after each batch."""
        with self._arrived:
            assert self._arrived.wait_for(done, PATIENCE), self.batches

    def count(self, table: str) -> int:
        """How many updates of `table` have come."""
        return sum(len(b.tables[table].diffs) for b in self.batches if table in b.tables)

    def ids(self, table: str) -> list[int]:
        """The ids of the updates of `table`, in the order of arrival."""
        found = [b.tables[table].rows["id"].to_pylist() for b in self.batches if table in b.tables]
        return [number for part in found for number in part if number is not None]


class Service:
    """The files of one service, and pipelines over them, one at a time."""

    def __init__(self, root: Path, spark: SparkSession) -> None:
        self.topics = root / "topics"
        self.root = root
        self.connections: dict[str, Connection] = {}
        self._spark = spark
        self.open()

    def open(self, batch_records: int = 10_000, trigger: Trigger = "micro-batch") -> None:
        """Open journal and quarantine as a new process does."""
        self.journal = Journal(self.root / "journal")
        self.quarantine = Quarantine(self.root / "quarantine")
        self.collector = Collector(self.journal)
        settings = PipelineSettings(
            self.topics,
            self.root,
            batch_records=batch_records,
            connections=self.connections,
            jars=JARS,
            trigger=trigger,
        )
        self.pipeline = Pipeline(
            settings, self.journal, self.quarantine, self.collector, self._spark
        )

    def close(self) -> None:
        """Stop as a process that ends."""
        self.pipeline.stop()
        self.journal.close()
        self.quarantine.close()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SparkSession]:
    """The session of all tests."""
    session = create_session("local[2]", "1g", tmp_path_factory.mktemp("spark"), JARS)
    yield session
    stop_session(session)


@pytest.fixture
def service(tmp_path: Path, spark: SparkSession) -> Iterator[Service]:
    """A service that was never started."""
    made = Service(tmp_path, spark)
    yield made
    made.close()
