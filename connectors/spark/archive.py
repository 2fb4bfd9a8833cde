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
from typing import Any

import pyarrow as pa
from pyspark.errors import StreamingQueryException
from pyspark.sql import SparkSession

from connectors.files.writer import TopicWriter
from connectors.spark.control import Control, Position
from connectors.spark.query import MicroBatches
from connectors.spark.session import archive_beside, create_session, stop_session
from connectors.tables.spec import TableSpec

_SECONDS = 120.0
# Nothing listens on this port; what a client needs to find that out is loaded.
_NOWHERE = {
    "kafka.bootstrap.servers": "127.0.0.1:1",
    "kafka.request.timeout.ms": "500",
    "kafka.default.api.timeout.ms": "1000",
}
# What it would need beside that to read records.
_KAFKA = (
    "org/apache/kafka/clients/consumer/",
    "org/apache/kafka/common/record/",
    "org/apache/kafka/common/requests/Fetch",
    "org/apache/kafka/common/message/Fetch",
    "org/apache/spark/sql/kafka010/",
)


def archive(jars: Path) -> None:
    """Write the archive that `create_session` finds beside `jars`, those of its Kafka source."""
    archive_beside(jars).unlink(missing_ok=True)
    with TemporaryDirectory(prefix="ivm-archive-") as directory:
        root = Path(directory)
        session = create_session("local[2]", "1g", root / "spark", jars, archiving=True)
        session.sparkContext.setLogLevel("OFF")
        _read_files(session, root)
        _ask_brokers(session, root)
        _load(session, jars)
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


def _ask_brokers(session: SparkSession, root: Path) -> None:
    """Begin to read Kafka, as far as that goes without any."""
    source = session.readStream.format("kafka").options(subscribe="t", **_NOWHERE).load()
    writer = source.writeStream.foreachBatch(lambda batch, _: None)
    query = writer.option("checkpointLocation", str(root / "checkpoint")).start()
    try:
        query.awaitTermination()
    except StreamingQueryException:
        return


def _load(session: SparkSession, jars: Path) -> None:
    """Load the classes of `_KAFKA`."""
    java: Any = session._jvm
    for jar in sorted(jars.glob("*.jar")):
        entries = java.java.util.zip.ZipFile(str(jar)).stream().toArray()
        for entry in entries:
            name = entry.getName()
            if name.startswith(_KAFKA) and name.endswith(".class"):
                java.org.apache.spark.util.Utils.classForName(
                    name.removesuffix(".class").replace("/", "."), False, True
                )


if __name__ == "__main__":
    archive(Path(sys.argv[1]))
