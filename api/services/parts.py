"""The parts of one service on one data directory: pool, registry, journal, pipeline, sinks.

The pipeline delivers batches to the applier, which feeds the pool and gives the sinks its deltas.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

from pydantic import SecretStr

from api.clock import PoolClock
from api.registry import Registry
from api.services.cluster import Cluster
from api.services.data_directory import open_directory
from api.services.headroom import Headroom
from api.services.writes import Writes
from api.settings import ClusterSettings, Settings
from connectors.ingest.apply import Applier
from connectors.ingest.meter import Meter
from connectors.ingest.pipeline import Pipeline
from connectors.ingest.settings import PipelineSettings
from connectors.progress.journal import Journal
from connectors.quarantine.dead_letters import DeadLetters
from connectors.quarantine.store import Quarantine
from connectors.sinks.deltas import DeltaSink
from connectors.sinks.kafka.session import Service
from connectors.sinks.kafka.sink import KafkaSink
from connectors.spark.session import LOOPBACK, abandon_session
from ivm.cluster.merging import MemberShare
from ivm.cluster.pool import AnyPool, ClusterPool
from ivm.pool import Pool


class Parts:
    """Opened together, and closed together."""

    def __init__(self, settings: Settings, make_pipeline: Callable[..., Pipeline]) -> None:
        """Open or create the data directory.

        Raises DataDirectoryNewer, JournalCorrupt, RegistryCorrupt.
        """
        self.settings = settings
        data, topics = settings.data.resolve(), settings.topics_directory.resolve()
        self.topics, self.work = topics, data / "work"
        for directory in (data, self.work, topics):
            directory.mkdir(parents=True, exist_ok=True)
        open_directory(data)
        self.journal = Journal(data / "journal")
        self.registry = Registry(data / "registry.json", self.journal.committed_time)
        self.quarantine = Quarantine(data / "quarantine.sqlite")
        self.pool, self.cluster = _pool(settings)
        self.meter = Meter()
        self.writes = Writes(topics)
        progress_seconds = settings.progress_seconds
        self.sink = DeltaSink(
            topics,
            self.journal,
            progress_seconds=progress_seconds,
            storage=settings.delta_storage,
        )
        service = Service(settings.service, settings.transaction_seconds, progress_seconds)
        self.kafka = KafkaSink(settings.connections, service, self.journal)
        sinks = (self.sink, self.kafka)
        clock = PoolClock(self.pool)
        self.applier = Applier(
            self.pool,
            clock,
            self.journal,
            sinks,
            self.meter,
            self.quarantine,
            self.registry.published,
        )
        if isinstance(self.pool, ClusterPool):
            headroom = Headroom(self.pool, settings.max_process_bytes)
            make_pipeline = partial(make_pipeline, expect_room=headroom.expect, owners=self.applier)
        self.pipeline = make_pipeline(
            self._pipeline_settings(), self.journal, self.quarantine, self.applier
        )
        self.letters = DeadLetters(
            self.quarantine,
            settings.connections,
            lambda: list(self.registry.sources.values()),
            settings.service,
        )

    def shares(self) -> list[MemberShare]:
        """The share of each shard of the engine; none without a cluster (raises PoolFailed)."""
        return self.pool.shares() if isinstance(self.pool, ClusterPool) else []

    @property
    def is_lost(self) -> bool:
        """Whether the cluster was lost, so that the service has to begin anew."""
        return self.cluster is not None and self.cluster.is_lost

    def close(self) -> None:
        """Finish the batch under way, and release everything."""
        self.letters.stop()
        if self.is_lost:
            abandon_session()  # it would wait for executors that do not answer
        self.pipeline.halt()
        if self.cluster is not None:
            self.cluster.close()  # before Spark, which would kill its members
        self.pipeline.stop()
        self.writes.close()
        self.kafka.close()
        self.sink.close()
        self.quarantine.close()
        self.journal.close()

    def _pipeline_settings(self) -> PipelineSettings:
        settings = self.settings
        return PipelineSettings(
            self.topics,
            self.work,
            settings.spark_master,
            settings.spark_memory,
            settings.batch_records,
            settings.connections,
            settings.spark_jars.resolve(),
            settings.trigger,
            settings.isolation,
            settings.service,
            *_beside(settings.cluster),
        )


def _beside(cluster: ClusterSettings | None) -> tuple[str, SecretStr | None, int]:
    """The address and the secret of the executors, and the slots that shards take there."""
    if cluster is None:
        return LOOPBACK, None, 0
    return cluster.host, cluster.secret, cluster.shards


def _pool(settings: Settings) -> tuple[AnyPool, Cluster | None]:
    """The pool that the settings ask for, and the cluster whose pool it is."""
    bounds: dict[str, Any] = {
        "max_rounds": settings.max_rounds,
        "max_updates": settings.max_updates,
        "max_recursion_bytes": settings.max_recursion_bytes,
        "max_process_bytes": settings.max_process_bytes,
        "max_recursion_seconds": settings.max_recursion_seconds,
    }
    if settings.cluster is None:
        return Pool(settings.workers, **bounds), None
    pool = ClusterPool(lost_seconds=settings.cluster.lost_seconds, **bounds)
    return pool, Cluster(settings, settings.cluster, pool)
