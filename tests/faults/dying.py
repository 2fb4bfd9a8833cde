"""The service, which kills itself at one point of its work.

    python -m tests.faults.dying POINT serve

is `python -m api serve` but for that: when it comes to the point, or comes there again a few times,
it gets SIGKILL.
"""

import importlib
import os
import signal
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Point:
    """Before or after the `count`-th call of `module:owner.method`."""

    when: Literal["before", "after"]
    where: str
    count: int = 3


POINTS = {
    "a producer has its epoch": Point(
        "after", "connectors.sinks.kafka.producer:TransactionalProducer.init", 1
    ),
    "a time is not yet journaled": Point("before", "connectors.progress.journal:Journal.prepare"),
    "a time is journaled": Point("after", "connectors.progress.journal:Journal.prepare"),
    "the tables are fed": Point("after", "connectors.ingest.feed:Feeder.settle"),
    "amid a transaction": Point(
        "after", "connectors.sinks.kafka.producer:TransactionalProducer.produce"
    ),
    "a transaction is not yet committed": Point(
        "before", "connectors.sinks.kafka.producer:TransactionalProducer.commit"
    ),
    "a transaction is committed": Point(
        "after", "connectors.sinks.kafka.producer:TransactionalProducer.commit"
    ),
    "the journal says that it is committed": Point(
        "after", "connectors.progress.journal:Journal.commit"
    ),
    "Spark has not yet committed": Point("after", "connectors.spark.handover:Handover.put"),
    "amid a checkpoint": Point("before", "connectors.checkpoint.store:LocalStore.create", 2),
    "a checkpoint is not yet named": Point(
        "before", "connectors.checkpoint.store:LocalStore.publish", 1
    ),
    "a checkpoint stands": Point("after", "connectors.checkpoint.store:LocalStore.publish", 1),
    "the journal is not yet compacted": Point(
        "before", "connectors.progress.journal:Journal.compact", 1
    ),
}


def arm(point: Point) -> None:
    """Put death into the point."""
    module, _, path = point.where.partition(":")
    *names, method = path.split(".")
    owner: Any = importlib.import_module(module)
    for name in names:
        owner = getattr(owner, name)
    done: Callable[..., Any] = getattr(owner, method)
    left = point.count

    def deadly(*arguments: Any, **named: Any) -> Any:
        nonlocal left
        left -= 1
        if left == 0 and point.when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = done(*arguments, **named)
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, method, deadly)


if __name__ == "__main__":
    from api.cli.main import app

    arm(POINTS[sys.argv.pop(1)])
    app()
