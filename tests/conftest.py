"""What all tests share: property tests without deadlines, servers, marks, and no skipping in CI.

A test may skip where a machine cannot have what it needs; with `CI=true` that is a failure, so
that a run which passes has run everything.
"""

import os
import sys
from collections.abc import Generator

import pytest
import structlog
from hypothesis import settings

from tests.kafka.broker import broker, kafka, secured
from tests.postgres import judge
from tests.scheduling import ByStack, order

__all__ = ["broker", "judge", "kafka", "secured"]

# In `make quick` few examples, in `make soak` many: they differ from run to run.
settings.register_profile("ivm", deadline=None, print_blob=True, max_examples=40)
settings.register_profile("quick", settings.get_profile("ivm"), max_examples=15)
settings.register_profile("long", settings.get_profile("ivm"), max_examples=1_000)
settings.load_profile("ivm")

# What services log in the process of a test is no output of the commands that it calls meanwhile.
structlog.configure(logger_factory=structlog.PrintLoggerFactory(sys.__stderr__))

# The servers that each fixture runs.
SERVERS = {
    "broker": ("broker", "jvm"),
    "kafka": ("broker", "jvm"),
    "proxied": ("broker", "jvm"),
    "secured": ("broker", "jvm"),
    "spark": ("jvm",),
    "capture": ("broker", "jvm", "postgres"),
    "stack": ("broker", "jvm", "postgres"),
    "judge": ("postgres",),
}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark a test with the servers that its fixtures run."""
    for fixture in getattr(item, "fixturenames", ()):
        for server in SERVERS.get(fixture, ()):
            item.add_marker(server)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Run long files first."""
    order(items)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: object) -> ByStack | None:
    """With `--dist loadfile`, deal out files and stacks."""
    return ByStack(config, log) if config.getvalue("dist") == "loadfile" else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Report a skipped test as failed where CI is set."""
    report = yield
    if report.skipped and not hasattr(report, "wasxfail") and os.environ.get("CI") == "true":
        report.outcome = "failed"
        report.longrepr = f"{item.nodeid} may not skip in CI: {report.longrepr}"
    return report
