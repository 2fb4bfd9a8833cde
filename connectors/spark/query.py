"""A streaming query from file topics and Kafka to a function on the driver."""

import logging
import os
import re
import shutil
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.streaming.readwriter import DataStreamWriter

from connectors import errors
from connectors.attribution import told
from connectors.errors import BrokerFault, SparkUnavailable, Stalled, Unavailable
from connectors.kafka.clusters import Feed
from connectors.spark.handover import Handover
from connectors.spark.kafka_source import chunks_of
from connectors.spark.session import STOP_SECONDS, free_slots
from connectors.spark.source import NAME
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

# How a traceback of a process of Spark's names an error of these packages.
_OURS = re.compile(r"^connectors\.errors\.(\w+): (.*)$", re.MULTILINE)
# How a report names an error of the Kafka client that Spark uses.
_KAFKAS = re.compile(r"\borg\.apache\.kafka\.[\w.]+(?:Exception|Error)[^\n]*")

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
class Failure:
    """Why a query ended; `is_final` if it would end so again.

    `cause` is an error of ours that the pipeline knows how to wait for: a fault outside, at a
    broker or registry, may be over at any time; what stalls it is for its user to mend.
    """

    message: str
    is_final: bool
    cause: Unavailable | Stalled | None = None


class Query:
    """A running streaming query, whose chunks `deliver` gets, some at a time.

    At most one runs for a `work` directory at a time. `wait` must be called for each.
    """

    def __init__(self, work: Path, deliver: Callable[[pa.Table], None], room: int = 1) -> None:
        """`room`: see `Handover`. What is made here runs once `_begin` is called."""
        parent = _MEMORY if _MEMORY.is_dir() else work
        owner = zlib.crc32(bytes(work.resolve()))
        self._checkpoint = parent / f"ivm-checkpoint-{os.getuid()}-{owner:08x}"
        shutil.rmtree(self._checkpoint, ignore_errors=True)
        self._checkpoint.mkdir(mode=0o700)
        self._handover = Handover(deliver, self.stop, room)

    def _begin(self, writer: DataStreamWriter) -> None:
        self._query = writer.option("checkpointLocation", self._checkpoint.as_uri()).start()
        self._handover.start()

    @property
    def waiting(self) -> int:
        """The batches that wait to be delivered."""
        return self._handover.waiting

    def wait(self) -> Failure | None:
        """Wait for the query's end and its last batch; why it failed, or None if it was stopped.

        `deliver` raising stops the query.
        """
        try:
            self._query.awaitTermination()
        except StreamingQueryException as error:
            return _failure(str(error))
        except (Py4JError, OSError):
            return Failure("the JVM of Spark ended", is_final=True)
        finally:
            self._handover.join()
            shutil.rmtree(self._checkpoint, ignore_errors=True)
        return None

    def stop(self) -> None:
        """Stop the query; a batch under way may be cut short, and comes again another time.

        Returns after `STOP_SECONDS` even if the query has not ended by then, which is logged.
        """
        try:
            self._query.stop()
        except (Py4JError, PySparkException) as error:
            if "TimeoutException" in str(error):
                log.error("the streaming query did not stop in %d s", STOP_SECONDS)
        except OSError:
            pass  # a JVM that ended has stopped


class MicroBatches(Query):
    """A query that gives a batch of all topics, and when that is done the next."""

    def __init__(
        self,
        spark: SparkSession,
        control: Path,
        limit: int,
        deliver: Callable[[pa.Table], None],
        feeds: Sequence[Feed] = (),
        reads_files: bool = True,
        taken: int = 0,
    ) -> None:
        """Start reading the topics of `feeds`, and if it `reads_files` those of `control`.

        Each of these gives about `limit` records at a time. Of Spark's slots so many are `taken`.
        """
        super().__init__(control.parent, deliver)

        def handle(batch: DataFrame, _: int) -> None:
            self._handover.put(batch.toArrow())

        parallelism = free_slots(spark, taken)
        sources = [chunks_of(spark, feed, limit, parallelism) for feed in feeds]
        if reads_files:
            sources.append(_files(spark, control, limit, parallelism))
        chunks = reduce(DataFrame.union, sources)
        self._begin(chunks.writeStream.foreachBatch(handle).options(**_OPTIONS))


def _files(spark: SparkSession, control: Path, limit: int, parallelism: int) -> DataFrame:
    """The chunks of file topics."""
    source = spark.readStream.format(NAME)
    source = source.option("control", str(control)).option("limit", limit)
    return source.option("parallelism", parallelism).load()


def _failure(report: str) -> Failure:
    """The cause of a failure out of Spark's report, which is long."""
    ours = _OURS.findall(report)
    if ours:
        name, text = ours[-1]
        kind: Any = getattr(errors, name, IvmError)
        if issubclass(kind, (Unavailable, Stalled)):
            return Failure(text, is_final=False, cause=told(kind, text))
        return Failure(f"{name}: {text}", is_final=True)
    kafkas = _KAFKAS.findall(report)
    if kafkas:
        return Failure(kafkas[-1], is_final=False, cause=BrokerFault(kafkas[-1]))
    if (found := _NO_WORKER.search(report)) is not None:
        text = (
            f"spark_master: Spark could not start a process ({found[0]}); it is tried again. Where "
            "that goes on, the machine has too few processors, or too little memory, for it"
        )
        return Failure(text, is_final=False, cause=SparkUnavailable(text))
    return Failure(report.partition("\n")[0], is_final=False)
