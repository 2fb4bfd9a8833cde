"""A query that ends is followed by another: at once, after a pause, or not at all."""

import threading
from collections.abc import Iterator, Sequence
from typing import Any, cast

import pytest

from connectors.errors import BrokerFault, PipelineFailed, SparkUnavailable
from connectors.spark import keeper as keeping
from connectors.spark.keeper import Keeper
from connectors.spark.query import Failure, Query, _failure

# What Spark 4.2 reports, less its frames.
NO_WORKER = """\
[STREAM_FAILED] Query [id = 1, runId = 2] terminated with exception: Job aborted due to stage \
failure: Task 0 in stage 3.0 failed 1 times, most recent failure: Lost task 0.0 in stage 3.0 \
(TID 7) (localhost executor driver): org.apache.spark.SparkException: Python worker failed to \
connect back.
\tat org.apache.spark.api.python.PythonWorkerFactory.createSimpleWorker(PythonWorkerFactory.scala)
Caused by: java.net.SocketTimeoutException: Timed out while waiting for the Python worker to connect
"""
CRASHED = "Job aborted: Python worker exited unexpectedly (crashed)\n\tat org.apache"


class Ending:
    """A query that ends as it is told, or runs until it is stopped."""

    def __init__(self, failure: Failure | None) -> None:
        self._failure = failure
        self._stopped = threading.Event()

    def wait(self) -> Failure | None:
        if self._failure is None:
            self._stopped.wait()
        return self._failure

    def stop(self) -> None:
        self._stopped.set()


class World:
    """A keeper whose queries end with these failures, one after another; the last one runs on."""

    def __init__(self, failures: Sequence[Failure]) -> None:
        self._left = list(failures)
        self.runs = threading.Event()
        self.failed: list[Exception] = []
        self.over = threading.Event()
        self.faults: list[str | None] = []
        self.keeper = Keeper(self._open, lambda _: False, self._fail)

    def _open(self) -> Query:
        self.faults.append(self.keeper.fault.part if self.keeper.fault else None)
        failure = self._left.pop(0) if self._left else None
        if failure is None:
            self.runs.set()
        return cast(Query, cast(Any, Ending(failure)))

    def _fail(self, error: Exception) -> None:
        self.failed.append(error)
        self.over.set()


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keeping, "_FIRST_PAUSE", 0.001)
    monkeypatch.setattr(keeping, "_LAST_PAUSE", 0.002)


@pytest.fixture
def worlds() -> Iterator[list[World]]:
    made: list[World] = []
    yield made
    for world in made:
        world.keeper.stop()


def started(worlds: list[World], *failures: Failure) -> World:
    world = World(failures)
    worlds.append(world)
    world.keeper.start()
    return world


def test_spark_that_cannot_start_processes_is_waited_for_and_told(worlds: list[World]) -> None:
    world = started(worlds, *[_failure(NO_WORKER)] * 20)
    assert world.runs.wait(30)
    assert world.failed == []
    assert world.faults == [None, *["spark"] * 20]
    world.keeper.progressed()
    assert world.keeper.fault is None


def test_a_process_that_crashes_again_and_again_ends_the_pipeline(worlds: list[World]) -> None:
    world = started(worlds, *[_failure(CRASHED)] * 20)
    assert world.over.wait(30)
    (error,) = world.failed
    assert isinstance(error, PipelineFailed)
    assert "crashed" in str(error)


def test_what_spark_reports_is_told_apart() -> None:
    waits = _failure(NO_WORKER)
    assert isinstance(waits.cause, SparkUnavailable)
    assert "(Python worker failed to connect back)" in waits.message
    assert _failure(CRASHED).cause is None
    fault = _failure("connectors.errors.BrokerFault: the broker is away")
    assert isinstance(fault.cause, BrokerFault)
