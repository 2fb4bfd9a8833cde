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

logs.configure()
"""


def told(program: str) -> list[dict[str, Any]]:
    """The events that a program writes to stderr, which ends as it may."""
    run = subprocess.run(
        [sys.executable, "-c", SETUP + program], stderr=subprocess.PIPE, check=False
    )
    return [orjson.loads(line) for line in run.stderr.splitlines()]


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
