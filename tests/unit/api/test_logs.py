"""The log of a service: every line is one event in JSON, whoever has written it."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import orjson
import pytest

from connectors.spark.stderr import logged

SETUP = """
import logging, sys, threading, warnings
import structlog
from api import logs

logs.configure({})
"""
# As Spark, Java and Spark's Python write to their stderr.
WRITTEN = """\
WARNING: A restricted method in java.lang.System has been called
26/11/29 06:01:02 ERROR Executor: Exception in task 0.0 in stage 1.0 (TID 2)
org.apache.spark.api.python.PythonException: Traceback (most recent call last):
  File "decode.py", line 7, in decode
ValueError: no record

\tat org.apache.spark.api.python.BasePythonRunner.read(PythonRunner.scala:1)
Caused by: java.io.IOException: gone
26/11/29 06:01:03 WARN TaskSetManager: Lost task 0.0
Traceback (most recent call last):
  File "worker.py", line 1, in main
EOFError
Exception in thread "main" java.lang.OutOfMemoryError
\tat Main.main(Main.java:3)
"""


def written(program: str, **settings: str) -> bytes:
    """The stderr of a program with a log, which ends as it may."""
    given = ", ".join(f"{name}={value!r}" for name, value in settings.items())
    run = subprocess.run(
        [sys.executable, "-c", SETUP.format(given) + program],
        stderr=subprocess.PIPE,
        check=False,
    )
    return run.stderr


def told(program: str, **settings: str) -> list[dict[str, Any]]:
    """The events that a program writes to stderr."""
    return [orjson.loads(line) for line in written(program, **settings).splitlines()]


@pytest.mark.parametrize(
    ("program", "event"),
    [
        ("structlog.get_logger().info('installed', view='totals')", "installed"),
        ("logging.getLogger('uvicorn.error').error('%s gone', 'client')", "client gone"),
        ("warnings.warn('this is old')", "this is old"),
        ("raise ValueError('a mistake')", "the service ended"),
        ("threading.Thread(target=lambda: 1 / 0).start()", "a thread ended"),
    ],
)
def test_whatever_is_told_is_a_line_of_json(program: str, event: str) -> None:
    [found] = told(program)
    assert event in found["event"]
    assert found.keys() >= {"level", "timestamp"}


@pytest.mark.parametrize(
    "program",
    [
        "try: 1 / 0\nexcept ZeroDivisionError: structlog.get_logger().exception('failed')",
        "try: 1 / 0\nexcept ZeroDivisionError: logging.getLogger('a').exception('failed')",
        "1 / 0",
    ],
)
def test_a_traceback_is_part_of_its_event(program: str) -> None:
    [found] = told(program)
    assert "Traceback" in found["exception"]
    assert "ZeroDivisionError" in found["exception"]


def test_a_console_has_lines_for_people() -> None:
    found = written("structlog.get_logger().info('installed', view='totals')", form="console")
    assert not found.startswith(b"{")
    assert b"installed" in found
    assert b"totals" in found


def test_events_below_the_level_are_left_out() -> None:
    program = "log = structlog.get_logger(); log.info('one'); log.warning('two')"
    assert [found["event"] for found in told(program, level="warning")] == ["two"]


def test_what_is_bound_to_a_context_is_part_of_its_events() -> None:
    program = """
structlog.contextvars.bind_contextvars(time=7, offsets={'orders': {'0': (3, 5)}})
structlog.get_logger().error('view failed', view='totals')
logging.getLogger('a').error('gone')
"""
    found, other = told(program)
    assert (found["view"], found["time"]) == ("totals", 7)
    assert found["offsets"] == other["offsets"] == {"orders": {"0": [3, 5]}}


def await_end() -> None:
    """Wait until all lines are logged."""
    for thread in threading.enumerate():
        if thread.name == "spark-log":
            thread.join(10)


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_lines_of_another_process_are_events(caplog: pytest.LogCaptureFixture) -> None:
    before = open_files()
    with logged() as stderr:
        program = "echo first >&2; echo; printf 'last' >&2"
        subprocess.run(["sh", "-c", program], stderr=stderr, check=True)
    await_end()
    assert [(r.name, r.getMessage()) for r in caplog.records] == [
        ("spark", "first"),
        ("spark", "last"),
    ]
    assert open_files() == before


def test_a_trace_of_another_process_is_part_of_its_event(caplog: pytest.LogCaptureFixture) -> None:
    with logged() as stderr:
        subprocess.run(["cat"], input=WRITTEN.encode(), stdout=stderr, check=True)
    await_end()
    assert [(r.levelname, r.name, r.getMessage()) for r in caplog.records] == [
        ("WARNING", "spark", "WARNING: A restricted method in java.lang.System has been called"),
        ("ERROR", "spark.Executor", "Exception in task 0.0 in stage 1.0 (TID 2)"),
        ("WARNING", "spark.TaskSetManager", "Lost task 0.0"),
        ("WARNING", "spark", 'Exception in thread "main" java.lang.OutOfMemoryError'),
    ]
    _, task, lost, died = caplog.records
    assert task.exception.endswith("Caused by: java.io.IOException: gone")  # type: ignore[attr-defined]
    assert lost.exception.endswith("EOFError")  # type: ignore[attr-defined]
    assert died.exception == "\tat Main.main(Main.java:3)"  # type: ignore[attr-defined]


def test_a_traceback_of_another_process_is_told_by_what_was_raised(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with logged() as stderr:
        text = b'Traceback (most recent call last):\n  File "a.py", line 1\nOSError: no socket\n'
        subprocess.run(["cat"], input=text, stdout=stderr, check=True)
    await_end()
    [record] = caplog.records
    assert record.getMessage() == "OSError: no socket"
    assert record.exception == text.decode().rstrip()  # type: ignore[attr-defined]


ENDED = """\
26/11/29 06:01:02 ERROR Utils: Aborting task
org.apache.spark.TaskKilledException
\tat org.apache.spark.TaskContextImpl.killTaskIfInterrupted(TaskContextImpl.scala:1)
26/11/29 06:01:02 ERROR DataWritingSparkTask: Aborting commit for partition 0 (task 0)
26/11/29 06:01:02 ERROR WriteToDataSourceV2Exec: Data source write support W[epoch: 4] is aborting.
26/11/29 06:01:02 ERROR WriteToDataSourceV2Exec: Data source write support W[epoch: 4] aborted.
26/11/29 06:01:02 ERROR Utils: Uncaught exception in thread main
"""


def test_the_end_of_a_query_amid_a_batch_is_nothing_to_tell(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with logged() as stderr:
        subprocess.run(["cat"], input=ENDED.encode(), stdout=stderr, check=True)
    await_end()
    assert [r.getMessage() for r in caplog.records] == ["Uncaught exception in thread main"]


def test_a_trace_is_a_member_of_its_line() -> None:
    program = (
        "logging.getLogger('spark').error('lost', extra={'exception': 'at one\\nat two', 'x': 1})"
    )
    [found] = told(program)
    assert found["exception"] == "at one\nat two"
    assert "x" not in found
