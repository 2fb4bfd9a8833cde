"""Which process of a test session runs a test, and when: long files first, one process for a stack.

Files that share a stack of servers follow one another in one process, so that it is started once.
"""

from collections import Counter

import pytest
from xdist.scheduler import LoadFileScheduling

# Folders whose conftest starts servers for all their files.
STACKS = ("tests/e2e/kafka", "tests/faults/debezium")


class ByStack(LoadFileScheduling):
    """Gives each process a file at a time, or the folder of a stack."""

    def _split_scope(self, nodeid: str) -> str:
        return unit(nodeid)


def order(items: list[pytest.Item]) -> None:
    """Put short units last, so that no process of several is left with a long one.

    First come those that start a JVM, then those of many tests.
    """
    long = {unit(item.nodeid) for item in items if item.get_closest_marker("jvm")}
    tests = Counter(unit(item.nodeid) for item in items)

    def rank(item: pytest.Item) -> tuple[bool, int, str]:
        mine = unit(item.nodeid)
        return mine not in long, -tests[mine], mine

    items.sort(key=rank)


def unit(nodeid: str) -> str:
    """What one process runs without another in between: a test's file, or its folder."""
    file = nodeid.split("::", 1)[0]
    folder = file.rpartition("/")[0]
    return folder if folder in STACKS else file
