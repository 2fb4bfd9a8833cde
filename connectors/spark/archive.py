"""`python -m connectors.spark.archive JARS`: the classes of Spark, ready to be mapped by a JVM.

Half of the processor time that Spark takes to start goes into reading and verifying thousands of
classes out of jars. A JVM can write what it has loaded to an archive as it ends, and another map it
(application class data sharing, JEP 350). It does so only with the very jars and the very Java that
the archive was made with, and starts without it otherwise.
"""

import sys
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
from pyspark.sql import SparkSession

from connectors.files.writer import TopicWriter
from connectors.spark.control import Control, Position
from connectors.spark.query import MicroBatches
from connectors.spark.session import archive_beside, create_session, stop_session
from connectors.tables.spec import TableSpec

_SECONDS = 120.0


def archive(jars: Path) -> None:
    """Write the archive that `create_session` finds beside `jars`, those of its class path."""
    archive_beside(jars).unlink(missing_ok=True)
    with TemporaryDirectory(prefix="ivm-archive-") as directory:
        root = Path(directory)
        session = create_session("local[2]", "1g", root / "spark", jars, archiving=True)
        session.sparkContext.setLogLevel("OFF")
        _read_files(session, root)
        stop_session(session, _SECONDS)


def _read_files(session: SparkSession, root: Path) -> None:
    """Carry a batch through Spark, as the service does."""
    TopicWriter(root / "topics", "t").append([b'{"id": 1}'])
    spec = TableSpec("t", "t", pa.schema([("id", pa.int64())]), (), envelope="append")
    control = Control(root / "topics", {"t@0": spec}, Position(0, {}), ())
    control.save(root / "control.json")
    came = threading.Event()
    query = MicroBatches(session, root / "control.json", 100, lambda _: came.set())
    if not came.wait(_SECONDS):
        raise TimeoutError(f"Spark gave no batch in {_SECONDS:g} s")
    query.stop()
    query.wait()


if __name__ == "__main__":
    archive(Path(sys.argv[1]))
