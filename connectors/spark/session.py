"""A Spark session: quiet, bound to one address, and able to import these packages."""

import os
import shutil
import sys
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from py4j.protocol import Py4JError  # type: ignore[import-untyped]
from pyspark import SparkConf, SparkContext
from pyspark.java_gateway import launch_gateway
from pyspark.sql import SparkSession

import connectors
from connectors.errors import SparkUnavailable
from connectors.spark.java import java_home
from connectors.spark.stderr import logged

# The JVM only carries bytes: its heap begins small, however large the machine. Compiling its code
# further than C1, or collecting its garbage in parallel, would take processor time from the engine
# beside it.
_JAVA_OPTIONS = "-Xms64m -XX:TieredStopAtLevel=1 -XX:+UseSerialGC -XX:-UsePerfData"
# An archive of classes that does not fit is passed over, and nothing else is to be said of it.
_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off -Xlog:class+path=off"

LOOPBACK = "127.0.0.1"

# How long the stop of a query is waited for, in seconds.
STOP_SECONDS = 30

_SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.master.rest.enabled": "false",
    "spark.sql.shuffle.partitions": "2",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.execution.arrow.pyspark.enabled": "true",
    # With a bound in bytes, Spark sums a batch's size up again at each row; rows of Kafka hold a
    # list, whose size takes time in proportion to the rows before: nine tenths of all time.
    "spark.sql.execution.arrow.maxBytesPerBatch": str(2**31 - 1),
    "spark.sql.execution.arrow.maxRecordsPerBatch": "2048",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.pollingDelay": "10ms",
    # A query that hangs must not keep a service from its end: then the JVM is killed.
    "spark.sql.streaming.stopTimeout": f"{STOP_SECONDS}s",
    "spark.sql.streaming.minBatchesToRetain": "2",
    "spark.sql.streaming.checkpoint.fileChecksum.enabled": "false",
    "spark.sql.streaming.metricsEnabled": "false",
    "spark.sql.ui.retainedExecutions": "1",
    "spark.ui.retainedJobs": "1",
    "spark.ui.retainedStages": "1",
    "spark.ui.retainedTasks": "100",
    "spark.locality.wait": "0s",
    "spark.driver.maxResultSize": "0",
    "spark.python.worker.reuse": "true",
    "spark.python.daemon.module": "connectors.spark.daemon",
    "spark.log.level": "ERROR",
    "spark.ui.showConsoleProgress": "false",
    # The options of Kafka's clients hold passwords and keys.
    "spark.redaction.regex": "(?i)secret|password|token|access[.]?key|jaas|keystore",
}


def create_session(
    master: str,
    driver_memory: str,
    scratch: Path,
    jars: Path | None = None,
    archiving: bool = False,
    host: str = LOOPBACK,
    secret: str | None = None,
) -> SparkSession:
    """The session of this process, made if there is none (raises JavaMissing, SparkUnavailable).

    Executors of other machines reach it at `host`; with a `secret` those that know it.

    `scratch` is a directory for Spark's temporary files; what a killed process left there goes.
    `jars` holds the jars of Spark's Kafka source, if there is to be one. Where an archive of
    classes lies beside it (`connectors.spark.archive`), the JVM starts from that; `archiving` makes
    one, at the JVM's end.
    """
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    home = java_home()
    if home is not None:
        os.environ["JAVA_HOME"] = str(home)
    root = str(Path(connectors.__file__).parent.parent)
    inherited = os.environ.get("PYTHONPATH")
    os.environ["PYTHONPATH"] = os.pathsep.join([root, inherited] if inherited else [root])
    # Spark's Python starts where the service was, and a `connectors.py` there is none of ours.
    os.environ["PYTHONSAFEPATH"] = "1"
    os.environ["PYSPARK_PYTHON"] = sys.executable
    # The JVM asks this Python for data sources of other packages, in a process that stays, unless
    # there is no such command. Ours are registered, and run by the Python above.
    os.environ["PYSPARK_DRIVER_PYTHON"] = "none"
    os.environ.setdefault("SPARK_LOCAL_IP", host)
    conf = _configuration(master, driver_memory, scratch, jars, archiving)
    conf.set("spark.driver.host", host).set("spark.driver.bindAddress", host)
    conf.set("spark.executorEnv.PYTHONPATH", os.environ["PYTHONPATH"])
    conf.set("spark.executorEnv.PYTHONSAFEPATH", "1")
    try:
        return _started(conf, secret)
    except Py4JError as error:
        _end_jvm()
        if master.startswith("local"):
            raise
        reason = f"{master} (spark_master) does not answer, or has another secret (cluster.secret)"
        raise SparkUnavailable(reason) from error


def _started(conf: SparkConf, secret: str | None) -> SparkSession:
    """The session of this process, made by `conf` if there is none (raises Py4JError)."""
    if SparkContext._active_spark_context is None:
        with logged() as stderr:
            gateway = launch_gateway(conf, {"stderr": stderr})  # type: ignore[no-untyped-call]
            conf.setAll(list(secured(secret).items()))  # only now: the JVM's arguments can be seen
            SparkContext(conf=conf, gateway=gateway)
    return SparkSession.builder.config(conf=conf).getOrCreate()


def secured(secret: str | None) -> Mapping[str, str]:
    """The settings by which the parts of Spark let in who knows the secret, and encrypt."""
    if secret is None:
        return {}
    return {
        "spark.authenticate": "true",
        "spark.authenticate.secret": secret,
        "spark.network.crypto.enabled": "true",
        "spark.io.encryption.enabled": "true",
    }


def _configuration(
    master: str, driver_memory: str, scratch: Path, jars: Path | None, archiving: bool
) -> SparkConf:
    options = f'{_JAVA_OPTIONS} {_QUIET} -Djava.io.tmpdir="{scratch}"'
    if jars is not None and (archiving or archive_beside(jars).exists()):
        sharing = "ArchiveClassesAtExit" if archiving else "SharedArchiveFile"
        options += f' -XX:{sharing}="{archive_beside(jars)}"'
    conf = SparkConf().setAppName("ivm").setMaster(master)
    conf.set("spark.driver.memory", driver_memory)
    conf.set("spark.local.dir", str(scratch))
    conf.set("spark.sql.warehouse.dir", str(scratch / "warehouse"))
    conf.set("spark.driver.extraJavaOptions", options)
    conf.set("spark.executor.memory", driver_memory)
    conf.set("spark.executor.extraJavaOptions", _JAVA_OPTIONS)
    if jars is not None:
        for side in ("driver", "executor"):
            conf.set(f"spark.{side}.extraClassPath", str(jars.resolve() / "*"))
    conf.setAll(list(_SETTINGS.items()))
    return conf


def is_local(spark: SparkSession) -> bool:
    """Whether all tasks run on this machine."""
    return (spark.sparkContext.master or "").startswith("local")


def free_slots(spark: SparkSession, taken: int) -> int:
    """The tasks that can run at once beside those that are `taken`; one at least."""
    return max(spark.sparkContext.defaultParallelism - taken, 1)


def archive_beside(jars: Path) -> Path:
    """The path of the archive of classes that belongs to these `jars`."""
    return jars.resolve().with_suffix(".jsa")


def stop_session(session: SparkSession, seconds: float = 10.0) -> None:
    """End Spark and its JVM, also when that has ended already; nothing if it was stopped.

    Returns when the JVM has removed its temporary files; after `seconds` it is killed.
    """
    if SparkContext._gateway is not None:
        with suppress(Py4JError, OSError):
            session.stop()
        _end_jvm(seconds)


def abandon_session() -> None:
    """Kill the JVM of this process, if there is one, whatever Spark waits for.

    What is stopped after that finds that it has ended.
    """
    gateway: Any = SparkContext._gateway
    if gateway is not None:
        gateway.proc.kill()


def _end_jvm(seconds: float = 10.0) -> None:
    """End the JVM of this process, if there is one; after `seconds` it is killed."""
    gateway: Any = SparkContext._gateway
    if gateway is None:
        return
    with suppress(Py4JError, OSError):
        gateway.shutdown()
    SparkContext._gateway = SparkContext._jvm = None
    gateway.proc.stdin.close()  # at which the JVM ends
    try:
        gateway.proc.wait(seconds)
    except TimeoutExpired:
        gateway.proc.kill()
