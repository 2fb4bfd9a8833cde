"""A service without Spark that does one deed, and may be killed at any durable step of it.

A durable step is a call that leaves something behind which a start finds: a line of the journal, a
file, a transaction. `die_amid` does what comes before the deed, counts such steps from then on, and
dies by SIGKILL before the n-th; or after the last, and leaves a note that it came that far.
"""

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

import api.registry
from api.runtime import Runtime
from connectors.checkpoint.store import LocalStore
from connectors.files.reader import TopicReader
from connectors.files.writer import TopicWriter
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine, Repair
from connectors.sinks.kafka.producer import TransactionalProducer
from connectors.sinks.kafka.topics import Topics
from connectors.sinks.target import KafkaTarget
from connectors.tables.spec import TableSpec
from tests.unit.api.filed import make_runtime, pipeline_of, take_checkpoint
from tests.unit.connectors.records import record

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("customer", pa.string(), nullable=False),
    pa.field("due", pa.timestamp("us", "UTC"), nullable=False),
]
ORDERS = TableSpec(
    "orders", "orders", pa.schema(FIELDS), ("id",), replica_identity="full", on_error="quarantine"
)
ITEMS = TableSpec("items", "items", ORDERS.schema, ("id",), replica_identity="full")
BAD = ("orders", 0, 1)
REPAIRED = 2

COUNTS = "SELECT customer, count(*) AS orders FROM orders GROUP BY customer"
FIRSTS = "SELECT customer, min(id) AS first FROM orders GROUP BY customer"
OPEN = "SELECT id FROM orders WHERE due > now()"
LARGE = "SELECT id, customer FROM orders WHERE id > 2"
# Orders fall due one after another, so that some do between two ticks.
STEP = timedelta(seconds=0.3)

STEPS: tuple[tuple[Any, str], ...] = (
    (Journal, "_append"),
    (Journal, "compact"),
    (TopicWriter, "truncate"),
    (TopicWriter, "sync"),
    (Topics, "ensure"),
    (TransactionalProducer, "init"),
    (TransactionalProducer, "commit"),
    (LocalStore, "publish"),
    (LocalStore, "remove"),
    (Quarantine, "add"),
    (Quarantine, "fix"),
    (Quarantine, "close_as_replayed"),
    (api.registry, "settle"),
)


@dataclass(frozen=True)
class Place:
    """Where a service is: its directory, its broker and its name there, and since when."""

    data: Path
    address: str
    service: str
    since: datetime

    @property
    def note(self) -> Path:
        """Is there once a deed was done to its end."""
        return self.data / "done"

    def due(self, number: int) -> datetime:
        """When an order falls due."""
        return self.since + number * STEP

    def created(self, number: int) -> bytes:
        """The record of an order."""
        due = self.due(number).isoformat(timespec="microseconds")
        return record("c", after={"id": number, "customer": customer(number), "due": due})

    def make(self) -> Runtime:
        """The service, not started yet."""
        connections = {"main": {"bootstrap_servers": self.address}}
        return make_runtime(
            self.data, service=self.service, connections=connections, clock_seconds=1e6
        )

    def start(self) -> "World":
        """Start the service."""
        runtime = self.make()
        runtime.start()
        assert not runtime.readiness.faults()
        return World(self, runtime)


class World:
    """A started service, and what is done with it."""

    def __init__(self, place: Place, runtime: Runtime) -> None:
        self.place = place
        self.runtime = runtime

    def append(self, topic: str, *values: bytes) -> None:
        """Append records to a topic."""
        writer = TopicWriter(self.place.data / "topics", topic)
        writer.append(list(values))
        writer.close()

    def batch(self, topic: str = "orders") -> None:
        """Let the service read two more orders at one time."""
        last = TopicReader(self.place.data / "topics", topic).ends().get(0, 0)
        self.append(topic, *(self.place.created(number) for number in (last + 1, last + 2)))
        pipeline_of(self.runtime).step()

    def orders(self) -> list[int]:
        """The ids of the orders that were read."""
        end = self.runtime.applier.offsets().ends("orders")[0]
        values = TopicReader(self.place.data / "topics", "orders").read(0, 0, end)
        read = [orjson.loads(value)["after"]["id"] for value in values if value != b"{bad"]
        is_repaired = self.runtime.quarantine.get(BAD).status == "replayed"
        return [*read, *[REPAIRED] * is_repaired]

    def tick(self) -> None:
        """Let time pass, until one more order has fallen due if any is to."""
        moment = datetime.now(UTC)
        dues = [due for due in map(self.place.due, self.orders()) if due > moment]
        while dues and datetime.now(UTC) < min(dues):
            time.sleep(0.01)
        pipeline_of(self.runtime).tick()

    def put(self, name: str, query: str) -> None:
        """Put a view that is published to Kafka."""
        topic = KafkaTarget("main", f"{self.place.service}.{name}", partitions=1)
        self.runtime.views.put(name, query, "sql", None, topic)

    def drop(self, name: str) -> None:
        """Drop a view, if it is there."""
        if self.runtime.registry.view(name) is not None:
            self.runtime.views.drop(name)

    def replace(self) -> None:
        """Drop a view, and put another of that name."""
        view = self.runtime.registry.view("counts")
        if view is not None and view.query == COUNTS:
            self.drop("counts")
        self.put("counts", FIRSTS)

    def put_items(self) -> None:
        """Declare one more source, and read it."""
        self.runtime.sources.put(ITEMS)
        self.batch("items")

    def drop_items(self) -> None:
        """Forget that source, if it is there."""
        if "items" in self.runtime.registry.sources:
            self.runtime.sources.drop("items")

    def correct(self) -> None:
        """Apply the record that could not be read."""
        if self.runtime.quarantine.get(BAD).status == "open":
            self.runtime.repairs.fix(BAD, Repair(None, self.place.created(REPAIRED)))
            self.runtime.repairs.replay([BAD], overwrite=False)

    def checkpoint(self) -> None:
        """Take a checkpoint."""
        take_checkpoint(self.runtime)


def begin(world: World) -> None:
    """A service with views, a checkpoint, and times beyond it."""
    world.runtime.sources.put(ORDERS)
    world.append("orders", world.place.created(1), b"{bad")
    pipeline_of(world.runtime).step()
    world.put("counts", COUNTS)
    world.put("open", OPEN)
    world.batch()
    world.checkpoint()
    world.batch()


Acts = tuple[Callable[[World], None], ...]


def _put_large(world: World) -> None:
    world.put("large", LARGE)


def _put_firsts(world: World) -> None:
    world.put("firsts", FIRSTS)


def _drop_counts(world: World) -> None:
    world.drop("counts")


def _drop_open(world: World) -> None:
    world.drop("open")


# What comes before, and the deed; doing the deed again does what is left of it.
DEEDS: dict[str, tuple[Acts, Acts]] = {
    "a batch": ((), (World.batch,)),
    "a tick": ((), (World.tick,)),
    "a correction": ((), (World.correct,)),
    "a checkpoint": ((), (World.checkpoint,)),
    "a view is put after a batch": ((), (_put_large,)),
    "a view is put after a view": ((_put_firsts,), (_put_large,)),
    "a view is put after a tick": ((World.tick,), (_put_large,)),
    "a view is put after a correction": ((World.correct,), (_put_large,)),
    "a view is put after a checkpoint": ((World.checkpoint,), (_put_large,)),
    "a view is put after a source was dropped": (
        (World.put_items, World.drop_items),
        (_put_large,),
    ),
    "a view is dropped": ((), (_drop_counts,)),
    "all views are dropped and one is put": (
        (_drop_counts, _drop_open, World.batch),
        (_put_large,),
    ),
    "a view is replaced": ((), (World.replace,)),
    "a source is put": ((), (World.put_items,)),
    "a source is dropped": ((World.put_items,), (World.drop_items,)),
    "a source is replaced": ((World.put_items,), (World.drop_items, World.put_items)),
}


def do(world: World, acts: Acts) -> None:
    """Do one after another."""
    for act in acts:
        act(world)


def die_amid(place: Place, deed: str, step: int) -> None:
    """Do a deed, and die before its durable step number `step`, or else at the end."""
    world = place.start()
    begin(world)
    before, acts = DEEDS[deed]
    do(world, before)
    _arm(step)
    do(world, acts)
    place.note.touch()
    os.kill(os.getpid(), signal.SIGKILL)


def _arm(step: int) -> None:
    """Put death before a durable step, counted from now on."""
    left = step

    def deadly(done: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **named: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            return done(*arguments, **named)

        return call

    for owner, name in STEPS:
        setattr(owner, name, deadly(getattr(owner, name)))


def truth(world: World, query: str) -> Counter[str]:
    """The rows that a view should have, of the orders that were read."""
    groups: dict[str, list[int]] = {}
    for number in world.orders():
        groups.setdefault(customer(number), []).append(number)
    moment = world.runtime.applier.clock.moment
    rows: dict[str, list[dict[str, Any]]] = {
        COUNTS: [{"customer": c, "orders": len(ids)} for c, ids in groups.items()],
        FIRSTS: [{"customer": c, "first": min(ids)} for c, ids in groups.items()],
        OPEN: [{"id": n} for n in world.orders() if world.place.due(n).timestamp() * 1e6 > moment],
        LARGE: [{"id": n, "customer": customer(n)} for n in world.orders() if n > 2],
    }
    return Counter(shown(row) for row in rows[query])


def shown(row: dict[str, Any]) -> str:
    """A row as text."""
    return repr(sorted(row.items()))


def customer(number: int) -> str:
    """Who made an order."""
    return f"c{number % 3}"
