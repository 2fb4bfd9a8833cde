"""A streaming query from file topics and Kafka to a function on the driver."""

import logging
import os
import re
import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from math import inf
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from connectors import errors
from connectors.attribution import told
from connectors.errors import SparkUnavailable, Stalled, Unavailable
from connectors.kafka.clusters import Feed
from connectors.spark.endpoint import Endpoint
from connectors.spark.gathering import Gathering
from connectors.spark.handover import Handover
from connectors.spark.kafka_source import kafka_topics
from connectors.spark.session import LOOPBACK, STOP_SECONDS, free_slots, is_local
from connectors.spark.source import file_topics
from ivm.cluster.dealing import Owners
from ivm.errors import IvmError

# Spark keeps its own positions here. Ours are in the journal, so nothing in it outlives a query,
# and memory serves as well as a disk.
_MEMORY = Path("/dev/shm")

# Nor need a batch wait for these positions; Spark's test of the sink asks whether it could lose
# records after a restart from its own checkpoint, which never happens here.
_OPTIONS = {
    "asyncProgressTrackingEnabled": "true",
    "asyncProgressTrackingCheckpointIntervalMs": "60000",
    "_asyncProgressTrackingOverrideSinkSupportCheck": "true",
}

# How many pieces may wait to be handed over, and behind how many bytes none does: small ones are
# handed over together, and a large batch waits alone.
_ROOM, _ROOM_BYTES = 1_000, 1 << 20

# How a traceback of a process of Spark's names an error of these packages.
_OURS = re.compile(r"^connectors\.errors\.(\w+): (.*)$", re.MULTILINE)

# How Spark says that a process of Python did not start in time, or not at all: for want of
# processors or memory, that is, since nothing of ours has run in it.
_NO_WORKER = re.compile(
    r"Python worker failed to connect back"
    r"|Timed out while waiting for the Python worker to connect back"
    r"|Python (?:daemon )?failed to launch (?:worker|daemon)"
    r"|Failed to open socket to Python daemon"
    r"|Cannot run program[^\n]*error=1[12],"
    r"|unable to create (?:new )?native thread"
)

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Beside:
    """The surroundings of a query: this process at `host`, and the shards of a cluster, if any.

    The shards have `taken` so many of Spark's slots, and are the `owners` of rows. What tasks hand
    over to this process is `encrypted` if it is to be.
    """

    host: str = LOOPBACK
    taken: int = 0
    encrypted: bool = False
    owners: Owners | None = None


ALONE = Beside()


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a query ended; `is_final` if it would end so again.

    `cause` is an error of ours that the pipeline knows how to wait for: a fault outside, at a
    broker or registry, may be over at any time; what stalls it is for its user to mend.
    """

    message: str
    is_final: bool
    cause: Unavailable | Stalled | None = None


class Query:
    """A running streaming query, whose tasks hand chunks to `deliver`, some at a time.

    To Spark they give nothing: it plans batches and runs tasks, and its sink is one that takes no
    rows. At most one query runs for a `work` directory at a time. `wait` must be called for each.
    """

    def __init__(
        self,
        work: Path,
        deliver: Callable[[pa.Table], None],
        hear: Callable[[Unavailable], None],
        room: int = 1,
        room_bytes: float = inf,
        beside: Beside = ALONE,
    ) -> None:
        """`hear` is told what tasks wait for; for `room` and `room_bytes` see `Handover`.

        Of what runs `beside` it tasks are told. What is made here runs once `_begin` is called.
        """
        parent = _MEMORY if _MEMORY.is_dir() else work
        owner = zlib.crc32(bytes(work.resolve()))
        self._checkpoint = parent / f"ivm-checkpoint-{os.getuid()}-{owner:08x}"
        shutil.rmtree(self._checkpoint, ignore_errors=True)
        self._checkpoint.mkdir(mode=0o700)
        self._handover = Handover(deliver, self.stop, room, room_bytes)
        take = Gathering(self._handover.put).take
        self._endpoint = Endpoint(
            take,
            hear,
            lambda: self._handover.seconds,
            beside.host,
            encrypted=beside.encrypted,
            owners=beside.owners,
        )

    def _begin(self, chunks: DataFrame) -> None:
        writer = chunks.writeStream.format("noop").options(**_OPTIONS)
        self._query = writer.option("checkpointLocation", self._checkpoint.as_uri()).start()
        self._handover.start()

    @property
    def waiting(self) -> int:
        """The batches that wait to be delivered."""
        return self._handover.waiting

    def wait(self) -> Failure | None:
        """Wait for the query's end and its last batch; why it failed, or None if it was stopped.

        `deliver` raising stops the query. Afterwards no task can hand over anything.
        """
        try:
            self._query.awaitTermination()
        except StreamingQueryException as error:
            return _failure(str(error))
        except (Py4JError, OSError):
            return Failure("the JVM of Spark ended", is_final=True)
        finally:
            self._handover.join()
            self._endpoint.close()
            shutil.rmtree(self._checkpoint, ignore_errors=True)
        return None

    def stop(self) -> None:
        """Stop the query; a batch under way may be cut short, and comes again another time.

        Returns after `STOP_SECONDS` even if the query has not ended by then, which is logged.
        """
        self._endpoint.finish()  # tasks that go on and on end so, sooner than Spark ends them
        try:
            self._query.stop()
        except (Py4JError, PySparkException) as error:
            if "TimeoutException" in str(error):
                log.error("the streaming query did not stop in %d s", STOP_SECONDS)
        except OSError:
            pass  # a JVM that ended has stopped


class MicroBatches(Query):
    """A query that gives a batch of all topics, and when that is done the next.

    If it `follows` topics, one task does so instead while little comes, and partitions that are
    new are not seen meanwhile.
    """

    def __init__(
        self,
        spark: SparkSession,
        control: Path,
        limit: int,
        deliver: Callable[[pa.Table], None],
        feeds: Sequence[Feed] = (),
        reads_files: bool = True,
        beside: Beside = ALONE,
    ) -> None:
        """Start reading the topics of `feeds`, and if it `reads_files` those of `control`.

        Each of these gives about `limit` records at a time; for `beside` see `Query`.
        """
        super().__init__(control.parent, deliver, lambda _: None, _ROOM, _ROOM_BYTES, beside)
        address, tasks = self._endpoint.address, free_slots(spark, beside.taken)
        # A batch ends once all its tasks do: one that follows topics would hold the others up. And
        # it leaves in a file how far it came.
        self.follows = len(feeds) == 1 and not reads_files and is_local(spark)
        followed = self._checkpoint / "followed.json" if self.follows else None
        sources = [kafka_topics(spark, feed, limit, tasks, address, followed) for feed in feeds]
        if reads_files:
            sources.append(file_topics(spark, control, limit, tasks, address))
        self._begin(reduce(DataFrame.union, sources))


def _failure(report: str) -> Failure:
    """The cause of a failure out of Spark's report, which is long."""
    ours = _OURS.findall(report)
    if ours:
        name, text = ours[-1]
        kind: Any = getattr(errors, name, IvmError)
        if issubclass(kind, (Unavailable, Stalled)):
            return Failure(text, is_final=False, cause=told(kind, text))
        return Failure(f"{name}: {text}", is_final=True)
    if (found := _NO_WORKER.search(report)) is not None:
        text = (
            f"spark_master: Spark could not start a process ({found[0]}); it is tried again. Where "
            "that goes on, the machine has too few processors, or too little memory, for it"
        )
        return Failure(text, is_final=False, cause=SparkUnavailable(text))
    return Failure(report.partition("\n")[0], is_final=False)
