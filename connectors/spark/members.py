"""Members of a cluster on Spark's executors: one in each task of a barrier job, which lasts.

Spark places the tasks, and gives each a slot for as long as the job runs. Whatever ends a task ends
the job; its member is not started anew, since the others would not know what it had been told.
"""

import re
from collections.abc import Iterable
from threading import Thread
from typing import Any

from pyspark import TaskContext
from pyspark.sql import SparkSession

from ivm.cluster.member import run
from ivm.cluster.rendezvous import Rendezvous

_CRASHED = re.compile(r"Python worker exited unexpectedly \(crashed\)")
_UNFIT = re.compile(
    r"^(?:ModuleNotFoundError|ImportError|AttributeError|TypeError): .*", re.MULTILINE
)
"""Raised by a task whose process lacks something that the service has told it to use."""


def slots(spark: SparkSession) -> int:
    """The tasks that the executors which are there can run at once."""
    context: Any = spark.sparkContext._jsc.sc()
    profile = context.resourceProfileManager().defaultResourceProfile()
    return int(context.maxNumConcurrentTasks(profile))


class Hosting:
    """A barrier job whose `count` tasks are members, who come to `rendezvous`."""

    def __init__(self, spark: SparkSession, rendezvous: Rendezvous, count: int) -> None:
        self._context = spark.sparkContext
        self._address = rendezvous.address
        self._credentials = rendezvous.credentials
        self._count = count
        self._end: str | None = None
        self._thread = Thread(target=self._run, name="cluster-job", daemon=True)
        self._thread.start()

    def ended(self) -> str | None:
        """Why no member comes any more; None while the job runs."""
        return self._end

    def join(self, seconds: float) -> None:
        """Wait until the job is over, as it is once its members have ended."""
        self._thread.join(seconds)

    def _run(self) -> None:
        address, credentials = self._address, self._credentials

        def member(_: Iterable[int]) -> Iterable[int]:
            number = TaskContext.get().partitionId()  # type: ignore[union-attr]
            run(address, credentials, number)
            return ()

        numbers = self._context.parallelize(range(self._count), self._count)
        try:
            numbers.barrier().mapPartitions(member).collect()
            self._end = "Spark's job is over"
        except Exception as error:  # Spark's client raises many where its JVM has gone
            self._end = _reason(str(error))


def _reason(report: str) -> str:
    """Why a job ended, out of Spark's report, which is long."""
    if (crash := _CRASHED.search(report)) is not None:
        return (
            f"{crash[0]}. Where that goes on, an executor has too little memory, or a processor "
            "that lacks instructions which the extensions were compiled for (IVM_MARCH)"
        )
    if (unfit := _UNFIT.search(report)) is not None:
        return (
            f"{unfit[0]}. So it is where executors run another release of ivm than the service, or "
            "none: all hosts need the same image"
        )
    lines = [line.strip() for line in report.splitlines() if line.strip()]
    told = [line for line in lines if "SparkException" in line or "Error" in line]
    return (told or lines or ["Spark ended it"])[0]
