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
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa

import api.registry
from api.runtime import Runtime
from api.services.definition import Definition
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
PRICE_FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("price", pa.decimal128(12, 2), nullable=False),
]
PRICES = TableSpec("prices", "prices", pa.schema(PRICE_FIELDS), ("id",), replica_identity="full")
WIDER = replace(
    PRICES, schema=pa.schema([PRICE_FIELDS[0], PRICE_FIELDS[1].with_type(pa.decimal128(16, 4))])
)
POISON = b"{bad"
BAD = ("orders", 0, 1)
STALLING = ("items", 0, 2)
REPAIRED = 2

COUNTS = "SELECT customer, count(*) AS orders FROM orders GROUP BY customer"
FIRSTS = "SELECT customer, min(id) AS first FROM orders GROUP BY customer"
OPEN = "SELECT id FROM orders WHERE due > now()"
SINCE = "SELECT customer, count(*) AS orders FROM orders WHERE id > 1 GROUP BY customer"
NAMED = "SELECT customer FROM counts"
LARGE = "SELECT id, customer FROM orders WHERE id > 2"
ITEM_IDS = "SELECT id FROM items"
PRICE_ROWS = "SELECT id, price FROM prices"
BOTH = "SELECT orders.id FROM orders JOIN items ON orders.id = items.id"
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
        read = [orjson.loads(value)["after"]["id"] for value in values if value != POISON]
        is_repaired = self.runtime.quarantine.get(BAD).status == "replayed"
        return [*read, *[REPAIRED] * is_repaired]

    def items(self) -> list[int]:
        """The ids of the items that were read."""
        end = self.runtime.applier.offsets().ends("items").get(0, 0)
        values = TopicReader(self.place.data / "topics", "items").read(0, 0, end)
        return [orjson.loads(value)["after"]["id"] for value in values if value != POISON]

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
        self.runtime.views.put(Definition(name, query, target=topic))

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

    def put_named(self) -> None:
        """Put a view over the one that is to be replaced."""
        self.put("named", NAMED)

    def prepare(self) -> None:
        """Put another definition of a view beside it, unless it has it already."""
        waiting = self.runtime.replacements.put(Definition("counts", SINCE))
        if waiting is not None:
            assert waiting.ended.wait(20)
            assert waiting.reason is None

    def prepare_other_columns(self) -> None:
        """The same with a definition of other columns."""
        waiting = self.runtime.replacements.put(Definition("counts", FIRSTS))
        if waiting is not None:
            assert waiting.ended.wait(20)
            assert waiting.reason is None

    def approve(self) -> None:
        """Let that definition take the view's place, unless it has."""
        if "counts" in self.runtime.registry.replacements:
            waiting = self.runtime.replacements.get("counts")
            assert waiting.ended.wait(20)
            self.runtime.replacements.approve("counts", waiting.pending.version, None)

    def rename(self) -> None:
        """Give the view another name, unless it has it."""
        if self.runtime.registry.view("counts") is not None:
            self.runtime.views.rename("counts", "counted")

    def discard(self) -> None:
        """Forget that definition, if it waits."""
        if "counts" in self.runtime.registry.replacements:
            self.runtime.replacements.discard("counts")

    def put_items(self) -> None:
        """Declare one more source, and read it."""
        self.runtime.sources.put(ITEMS)
        self.batch("items")

    def drop_items(self) -> None:
        """Forget that source, if it is there."""
        if "items" in self.runtime.registry.sources:
            self.runtime.sources.drop("items")

    def put_item_views(self) -> None:
        """Put a view of the items, and one of them and the orders."""
        self.put("items_alone", ITEM_IDS)
        self.put("both", BOTH)

    def put_prices(self) -> None:
        """Declare a source of prices with a view of them in a file topic, and read it."""
        self.runtime.sources.put(PRICES)
        rows = [{"id": number, "price": "1.50"} for number in (1, 2)]
        self.append("prices", *(record("c", after=row) for row in rows))
        pipeline_of(self.runtime).step()
        self.runtime.views.put(Definition("price_rows", PRICE_ROWS))

    def widen_prices(self) -> None:
        """Give the prices more digits, unless they have them."""
        self.runtime.sources.put(WIDER)

    def stall_items(self) -> None:
        """Let a record stall that source, with good ones behind it."""
        if TopicReader(self.place.data / "topics", "items").ends()[0] == STALLING[2]:
            self.append("items", POISON)
        self.batch("items")

    def mend_items(self) -> None:
        """Skip that record, once the source stalls before it."""
        pipeline_of(self.runtime).step()
        if "items" in self.runtime.pipeline.stalled:
            self.runtime.repairs.skip(STALLING)

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
    world.append("orders", world.place.created(1), POISON)
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


_ITEMS = (World.put_items, World.put_item_views)
_STALLED = (*_ITEMS, World.stall_items)

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
    "a replacement is put": ((World.put_named,), (World.prepare,)),
    "a replacement is approved": ((World.put_named, World.prepare), (World.approve,)),
    "a replacement is approved after a checkpoint": (
        (World.put_named, World.prepare, World.checkpoint, World.batch),
        (World.approve, World.batch),
    ),
    "a replacement of other columns is approved": (
        (World.prepare_other_columns,),
        (World.approve,),
    ),
    "a replacement is discarded": ((World.prepare,), (World.discard,)),
    "a view is renamed": ((), (World.rename,)),
    "a source is put": ((), (World.put_items,)),
    "a source is dropped": ((World.put_items,), (World.drop_items,)),
    "a source stalls": (_ITEMS, (World.stall_items,)),
    "a batch while a source stalls": (_STALLED, (World.batch,)),
    "a checkpoint while a source stalls": ((*_STALLED, World.batch), (World.checkpoint,)),
    "a source that stalls is mended": ((*_STALLED, World.batch), (World.mend_items,)),
    "a column is widened": ((World.put_prices,), (World.widen_prices,)),
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
        SINCE: [
            {"customer": c, "orders": sum(n > 1 for n in ids)}
            for c, ids in groups.items()
            if max(ids) > 1
        ],
        NAMED: [{"customer": c} for c in _named(world, groups)],
        OPEN: [{"id": n} for n in world.orders() if world.place.due(n).timestamp() * 1e6 > moment],
        LARGE: [{"id": n, "customer": customer(n)} for n in world.orders() if n > 2],
        ITEM_IDS: [{"id": n} for n in world.items()],
        PRICE_ROWS: _prices(world),
        BOTH: [{"id": n} for n in world.orders() if n in world.items()],
    }
    return Counter(shown(row) for row in rows[query])


def _prices(world: World) -> list[dict[str, Any]]:
    """The rows of the prices, if there are any, with the digits that their column has now."""
    spec = world.runtime.registry.sources.get(PRICES.name)
    if spec is None:
        return []
    kind = spec.schema.field("price").type
    assert isinstance(kind, pa.Decimal128Type)
    return [{"id": number, "price": f"{1.5:.{kind.scale}f}"} for number in (1, 2)]


def _named(world: World, groups: dict[str, list[int]]) -> list[str]:
    """The customers that the view `counts` has, as it is defined now."""
    view = world.runtime.registry.view("counts")
    is_since = view is not None and view.query == SINCE
    return [c for c, ids in groups.items() if not is_since or max(ids) > 1]


def shown(row: dict[str, Any]) -> str:
    """A row as text."""
    return repr(sorted(row.items()))


def customer(number: int) -> str:
    """Who made an order."""
    return f"c{number % 3}"
