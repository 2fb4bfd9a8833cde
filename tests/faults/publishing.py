"""A view that changes at random, published through the Kafka sink, and what readers must find.

`Publishing` stands for the service around the sink: the journal ties times to ranges, the deltas of
a time come again after a restart. `assert_exactly_once` is the criterion of every fault: at each
progress record the fold of what is committed is the view as it was, and the numbers of messages
have neither gaps nor doubles.
"""

import random
import time as clock
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from connectors.connections import Connection
from connectors.errors import BrokerFault
from connectors.offsets import Offsets
from connectors.progress.batches import Range
from connectors.progress.journal import Journal
from connectors.sinks.kafka.progress import Progress, decode
from connectors.sinks.kafka.session import Service
from connectors.sinks.kafka.sink import KafkaSink
from connectors.sinks.sink import Output, Reached
from connectors.sinks.target import KafkaTarget
from ivm.errors import IvmError
from tests.kafka.client import Kafka

_FIELDS: list[pa.Field] = [pa.field("id", pa.int64(), False), pa.field("name", pa.string())]
SCHEMA = pa.schema(_FIELDS)
Row = tuple[int, str]


@dataclass(frozen=True)
class Drained:
    """Deltas without errors."""

    rows: pa.RecordBatch
    times: NDArray[np.uint64]
    diffs: NDArray[np.int64]
    errors: pa.RecordBatch
    error_times: NDArray[np.uint64]
    error_diffs: NDArray[np.int64]


def drained(time: int, changes: Sequence[tuple[Row, int]]) -> Drained:
    """The deltas of one time."""
    columns: dict[str, list[Any]] = {
        "id": [row[0] for row, _ in changes],
        "name": [row[1] for row, _ in changes],
    }
    return Drained(
        pa.RecordBatch.from_pydict(columns, schema=SCHEMA),
        np.full(len(changes), time, np.uint64),
        np.array([diff for _, diff in changes], np.int64),
        pa.RecordBatch.from_pydict({"error": pa.array([], pa.string())}),
        np.empty(0, np.uint64),
        np.empty(0, np.int64),
    )


def output(name: str, prefix: str, **target: Any) -> Output:
    """A view with this name, on a topic that begins with `prefix`."""
    wanted = {"partitions": 2, **target}
    topic = KafkaTarget("main", f"{prefix}.{name}", **wanted)
    return Output(name, SCHEMA, ("id",), True, f"plan of {name}", topic)


@dataclass
class History:
    """A view's states by time, and what changed; the same for the same seed."""

    seed: int
    state: dict[int, str] = field(default_factory=dict)
    states: dict[int, Counter[Row]] = field(default_factory=lambda: {0: Counter()})
    changes: dict[int, list[tuple[Row, int]]] = field(default_factory=dict)

    def at(self, time: int, size: int = 20) -> Drained:
        """The deltas of `time`, which is the next, or one that was."""
        if time not in self.changes:
            self._go_on(time, size)
        return drained(time, self.changes[time])

    def _go_on(self, time: int, size: int) -> None:
        chance = random.Random(f"{self.seed}:{time}")
        net: Counter[Row] = Counter()
        for _ in range(size):
            key = chance.randrange(50)
            if key in self.state:
                net[key, self.state.pop(key)] -= 1
            if chance.random() < 0.7:
                self.state[key] = f"name {chance.randrange(1000)}"
                net[key, self.state[key]] += 1
        self.changes[time] = [(row, diff) for row, diff in net.items() if diff]
        self.states[time] = Counter(self.state.items())


class Publishing:
    """One instance of a service with these views."""

    def __init__(
        self,
        directory: Path,
        address: str,
        outputs: Sequence[Output],
        service: str,
        transaction_seconds: float = 20,
        **connection: Any,
    ) -> None:
        """Start as a service does: restore what the journal has, open what it has not."""
        self.journal = Journal(directory / "journal")
        main = Connection(name="main", bootstrap_servers=address, **connection)
        self.sink = KafkaSink({"main": main}, Service(service, transaction_seconds), self.journal)
        self.outputs = {output.name: output for output in outputs}
        self.is_new = self.journal.last_time == 0

    def open(self) -> None:
        """Publish the views, empty at first."""
        for name, each in self.outputs.items():
            self.sink.open(each)
            self.sink.write(name, drained(0, []), Reached(0, 0, Offsets()))
        self.sink.commit(Reached(0, 0, Offsets()))

    def put(self, output: Output, history: History) -> None:
        """Publish another view from its snapshot on, or leave nothing of it (raises IvmError)."""
        time = self.journal.last_time
        rows = [(row, 1) for row in history.states[time]]
        try:
            self.sink.open(output)
            self.sink.write(output.name, drained(time, rows), self.reached(time))
            self.sink.commit(self.reached(time))
        except IvmError:
            self.sink.drop(output.name)
            raise
        self.outputs[output.name] = output

    def drop(self, name: str) -> None:
        """Publish nothing more of a view."""
        del self.outputs[name]
        self.sink.drop(name)

    def restore(self, histories: dict[str, History]) -> None:
        """Go on where the last instance ended: replay all that is prepared."""
        for each in self.outputs.values():
            while not self._is_restored(each):
                clock.sleep(0.1)  # as a service does that waits for its broker
        for time in range(1, self.journal.last_time + 1):
            self._hand_over(time, histories)

    def _is_restored(self, output: Output) -> bool:
        try:
            self.sink.restore(output)
        except BrokerFault:
            return False
        return True

    def deliver(self, histories: dict[str, History]) -> int:
        """Publish the next time."""
        time = self.journal.last_time + 1
        self.prepare(time)
        self._hand_over(time, histories)
        return time

    def prepare(self, time: int) -> Reached:
        """Journal a time."""
        reached = self.reached(time)
        self.journal.prepare(time, reached.ranges, reached.moment)
        return reached

    def write(self, time: int, histories: dict[str, History]) -> None:
        """Give the sink what it lacks of a time."""
        for name in self.outputs:
            changes = histories[name].at(time)
            if self.sink.has(name, time):
                self.sink.skip(name, changes)
            else:
                self.sink.write(name, changes, self.reached(time))

    def reached(self, time: int) -> Reached:
        """A time, and what it covers."""
        ranges = (Range("table", "input", 0, time * 10 - 10, time * 10),)
        offsets = Offsets.of_source("table", "input", {0: time * 10})
        return Reached(time, time * 1000, offsets, ranges)

    def abandon(self) -> None:
        """Die: only the lock on the journal is given up, as the system does for a dead process."""
        self.journal.close()

    def close(self) -> None:
        """End as a service does."""
        self.sink.interrupt()
        self.sink.close()
        self.journal.close()

    def _hand_over(self, time: int, histories: dict[str, History]) -> None:
        self.write(time, histories)
        self.sink.commit(self.reached(time))
        if self.journal.committed_time < time:
            self.journal.commit(time, {})


@dataclass(frozen=True)
class Message:
    """A message of a view's topic."""

    view: str
    life: int
    time: int
    sequence: int
    partition: int
    key: Any
    value: Any


def messages(kafka: Kafka, topic: str) -> list[Message]:
    """The committed messages of a topic, in the order of their numbers."""
    found = []
    for record in kafka.read_committed(topic):
        pairs: Any = record.headers()
        headers = {name: value.decode() for name, value in pairs}
        key, value = record.key(), record.value()
        found.append(
            Message(
                headers["view"],
                int(headers["life"]),
                int(headers["time"]),
                int(headers["sequence"]),
                record.partition() or 0,
                key and orjson.loads(key),
                value and orjson.loads(value),
            )
        )
    return sorted(found, key=lambda message: (message.life, message.sequence))


def progress(kafka: Kafka, service: str) -> list[Progress]:
    """The records of progress, each checked."""
    found: list[Progress] = []
    for record in kafka.read_committed(f"{service}.progress"):
        found.append(decode(record.value(), "here", found[-1] if found else None))
    assert all(record.is_whole for record in found)
    return found


def folded(found: Sequence[Message]) -> Counter[Row]:
    """The rows that deltas leave."""
    rows: Counter[Row] = Counter()
    for message in found:
        if "row" in message.value:
            row = message.value["row"]
            rows[row["id"], row["name"]] += message.value["diff"]
    return Counter({row: count for row, count in rows.items() if count})


def assert_exactly_once(
    kafka: Kafka, service: str, outputs: Sequence[Output], histories: dict[str, History]
) -> None:
    """What readers find is what there was, at every progress record, each message once.

    Of a view that lags that is as it was at the time that the record names.
    """
    records = progress(kafka, service)
    batches = [record.batch for record in records]
    assert batches == list(range(1, len(records) + 1)), batches
    for each in outputs:
        assert each.target is not None
        found = messages(kafka, each.target.topic)
        assert [message.sequence for message in found] == list(range(len(found)))
        times = {message.time for message in found}
        assert times == set(range(max(times) + 1)), "each time is there"
        for record in records:
            if each.name in record.views:
                view = record.views[each.name]
                time = record.time if view.complete is None else view.complete
                seen = found[: view.sequence]
                assert max((m.time for m in seen), default=0) <= time
                assert folded(seen) == histories[each.name].states[time]
        assert records[-1].views[each.name].sequence == len(found)
