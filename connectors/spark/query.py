"""One streaming query from `ivm_topics` to a function on the driver."""

import os
import re
import shutil
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

from connectors.spark.handover import Handover
from connectors.spark.source import NAME

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
_OURS = re.compile(r"^connectors\.errors\.(\w+: .*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a query ended; `is_final` if it would end so again."""

    message: str
    is_final: bool


class Query:
    """A running streaming query; `deliver` gets the chunks of one micro-batch after another.

    At most one runs for a control file at a time. `wait` must be called for each.
    """

    def __init__(
        self, spark: SparkSession, control: Path, limit: int, deliver: Callable[[pa.Table], None]
    ) -> None:
        """Start reading as the file `control` says, about `limit` records at a time."""
        parent = _MEMORY if _MEMORY.is_dir() else control.parent
        owner = zlib.crc32(bytes(control.resolve()))
        self._checkpoint = parent / f"ivm-checkpoint-{os.getuid()}-{owner:08x}"
        shutil.rmtree(self._checkpoint, ignore_errors=True)
        self._checkpoint.mkdir(mode=0o700)
        self._handover = Handover(deliver, self.stop)

        def handle(batch: DataFrame, _: int) -> None:
            self._handover.put(batch.toArrow())

        source = spark.readStream.format(NAME)
        source = source.option("control", str(control)).option("limit", limit)
        source = source.option("parallelism", spark.sparkContext.defaultParallelism)
        sink = source.load().writeStream.foreachBatch(handle).options(**_OPTIONS)
        self._query = sink.option("checkpointLocation", self._checkpoint.as_uri()).start()
        self._handover.start()

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
        """Stop the query; a batch under way may be cut short, and comes again another time."""
        with suppress(Py4JError, OSError):  # a JVM that ended has stopped
            self._query.stop()


def _failure(report: str) -> Failure:
    """What matters of Spark's report, which is long."""
    ours = _OURS.findall(report)
    if ours:
        return Failure(ours[-1], is_final=True)
    return Failure(report.partition("\n")[0], is_final=False)
