"""The cluster of a service: brings the members of its pool to Spark's executors."""

import time as clock
from collections.abc import Callable
from threading import Event

import structlog
from pyspark.sql import SparkSession

from api.settings import ClusterSettings, Settings
from connectors.health import PartFault
from connectors.spark.members import Hosting, slots
from ivm.cluster.pool import ClusterPool
from ivm.cluster.rendezvous import Rendezvous
from ivm.errors import PoolFailed

COMING_SECONDS = 60.0
"""The time in which the members come once their slots are there."""
LOOK_SECONDS = 0.2
"""The pause between two looks at the slots."""
ENDING_SECONDS = 10.0
"""The time in which the members end."""
READING = 1
"""Slots that stay for the tasks that read."""

log = structlog.get_logger()


class Cluster:
    """The members of `pool` by these settings; `start` waits for them."""

    def __init__(self, settings: Settings, members: ClusterSettings, pool: ClusterPool) -> None:
        self._master = settings.spark_master
        self._settings = members
        self._pool = pool
        self._stage = f"Spark has yet to answer at {settings.spark_master} (spark_master)"
        self._hosting: Hosting | None = None
        self._closed = Event()

    def start(self, spark: SparkSession) -> None:
        """Host the members, and let the pool begin with them.

        Where the master gives fewer slots than are wanted in time, there are fewer members; where
        it does not give enough for one, they are waited for. Raises PoolFailed where members do not
        come.
        """
        count = self._await_slots(spark)
        self._stage = f"{count} shards are coming to Spark's executors"
        rendezvous = Rendezvous(self._settings.host, encrypted=self._settings.secret is not None)
        try:
            self._hosting = Hosting(spark, rendezvous, count)
            members = rendezvous.members(count, COMING_SECONDS, self._hosting.ended)
            self._pool.start(members, rendezvous.credentials)
        finally:
            rendezvous.close()
        hosts = sorted({share.host for share in self._pool.shares()})
        log.info("cluster", shards=count, hosts=hosts)

    def close(self) -> None:
        """End the members, and with them Spark's job."""
        self._closed.set()
        self._pool.close()
        if self._hosting is not None:
            self._hosting.join(ENDING_SECONDS)

    def when_lost(self, call: Callable[[str], None]) -> None:
        """Call `call` with the reason, once, when the cluster is lost, or could not be had."""
        self._pool.when_failed(call)

    def give_up(self, reason: str) -> None:
        """Take the cluster for lost."""
        self._pool.fail(reason)

    @property
    def is_lost(self) -> bool:
        """Whether it was lost, or given up, rather than closed."""
        return self._pool.failure is not None and not self._closed.is_set()

    def fault(self) -> PartFault | None:
        """Why the pool cannot be asked; None if it can."""
        if (reason := self._pool.failure) is not None:
            return PartFault("cluster", "cluster", f"{reason}; the service has to begin anew")
        if not self._pool.is_started:
            return PartFault("cluster", "cluster.shards", f"the service is starting: {self._stage}")
        return None

    def _await_slots(self, spark: SparkSession) -> int:
        """The number of members that there are slots for, once there are enough or time is over."""
        wanted = self._settings.shards
        until = clock.monotonic() + self._settings.wait_seconds
        while (there := slots(spark)) < wanted + READING:
            if there > READING and clock.monotonic() >= until:
                break
            if self._closed.is_set():
                raise PoolFailed("the service stops")
            self._stage = (
                f"{self._master} (spark_master) gives {there} slots; cluster.shards takes {wanted},"
                f" and {READING} more has to read"
            )
            clock.sleep(LOOK_SECONDS)
        count = min(wanted, there - READING)
        if count < wanted:
            log.warning("fewer shards than cluster.shards", shards=count, wanted=wanted)
        return count
