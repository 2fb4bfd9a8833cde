"""A service without Spark that takes checkpoints as it goes, and may kill itself amid one.

Run as a program on a directory and a point, it applies topic `orders` in batches, over which it has
a view, and takes a checkpoint after each. At the third one it dies by SIGKILL at the point, which
may be `none`.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from api.services.definition import Definition
from connectors.checkpoint.store import LocalStore, Sink
from tests.unit.api.filed import pipeline_of, runtime_on, take_checkpoint
from tests.unit.api.test_checkpoints import ORDERS, TOTALS

BATCH = 50
POINTS = (
    "file created",
    "file half written",
    "file written",
    "manifest written",
    "manifest renamed",
    "first file deleted",
    "journal written",
    "journal renamed",
)

armed = {"point": "none", "now": False}


def die_at(point: str) -> None:
    """End as if the power went, as far as this process is concerned, if this is the point."""
    if armed["now"] and armed["point"] == point:
        os.kill(os.getpid(), signal.SIGKILL)


def before_and_after(owner: Any, method: str, before: str, after: str = "") -> None:
    """Let `owner.method` die before it does anything, or after it has done it."""
    done: Callable[..., Any] = getattr(owner, method)

    def deadly(*arguments: Any) -> Any:
        die_at(before)
        result = done(*arguments)
        die_at(after)
        return result

    setattr(owner, method, deadly)


class DeadlySink:
    """Dies after the first piece of a file."""

    def __init__(self, sink: Sink) -> None:
        self._sink = sink

    def write(self, data: bytes, /) -> int:
        """Write, and die."""
        count = self._sink.write(data)
        die_at("file half written")
        return count


def arm(point: str) -> None:
    """Put deaths into what a checkpoint does."""
    armed["point"] = point
    created = LocalStore.create

    @contextmanager
    def create(self: LocalStore, name: str) -> Iterator[Sink]:
        with created(self, name) as sink:
            die_at("file created")
            yield DeadlySink(sink)
        die_at("file written")

    LocalStore.create = create  # type: ignore[method-assign]
    replaced = Path.replace

    def replace(self: Path, target: Path) -> Path:
        kind = "journal" if target.name == "journal" else "manifest"
        die_at(f"{kind} written")
        result = replaced(self, target)
        die_at(f"{kind} renamed")
        return result

    Path.replace = replace  # type: ignore[assignment, method-assign]
    before_and_after(LocalStore, "remove", "", "first file deleted")


def main(root: Path, point: str) -> None:
    """Apply everything."""
    runtime = runtime_on(root)
    assert not runtime.readiness.faults()
    arm(point)
    runtime.sources.put(ORDERS)
    runtime.views.put(Definition("totals", TOTALS))
    print("ready", flush=True)
    checkpoints = 0
    while True:
        time = runtime.pool.frontier
        pipeline_of(runtime).step(BATCH)
        if runtime.pool.frontier == time:
            break
        checkpoints += 1
        armed["now"] = checkpoints == 3
        assert take_checkpoint(runtime), runtime.checkpoints.counts.error
    runtime.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
