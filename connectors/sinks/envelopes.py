"""From the deltas of a view to the messages of its topic, in one of three envelopes.

`delta`: every delta, as the lines of file topics are. Its key is the view's where that is unique;
else there is none, and the partition follows from the row, so that what adds a row and what takes
it out stand in one partition, in order. After the deltas of a time, each partition gets a frontier
record.

`upsert`: per key and time at most one message: the row that is there now, or a tombstone.

`debezium`: per key and time at most one event, `c`, `u` or `d` (`r` in the snapshot); a tombstone
follows a `d`, as Debezium has it.

Where the target names columns as `headers`, each message of a row has them: those of the row that
it adds or takes out, of the row that is there now, or of the one that was before it was deleted.

The last two need a key that no two rows share; a time that breaks this raises KeyNotUnique. Rows
that could not be computed have no key, so only `delta` carries them.
"""

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa

from connectors.columns.buffers import picked
from connectors.sinks.digest import row_hashes
from connectors.sinks.encoding import Encoding
from connectors.sinks.headers import Headers, row_headers
from connectors.sinks.net import Net, net
from connectors.sinks.origin import Origin
from connectors.sinks.sink import Changes, Output, Reached

# As a message's partition: that of its key.
BY_KEY = -1


@dataclass(frozen=True, slots=True)
class Messages:
    """Messages in the order in which they are published, by columns of equal length.

    But `headers` has those of the first messages alone; the others have none of a row's.
    """

    keys: list[bytes | None]
    values: list[bytes | None]
    times: list[int]
    partitions: list[int]
    headers: list[Headers] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.times)

    def extend(self, more: "Messages") -> None:
        """Put more messages after these."""
        if more.headers:
            self.headers.extend([()] * (len(self) - len(self.headers)))
            self.headers.extend(more.headers)
        self.keys.extend(more.keys)
        self.values.extend(more.values)
        self.times.extend(more.times)
        self.partitions.extend(more.partitions)

    def headers_of(self, i: int) -> Headers:
        """The headers of message `i` that a row gives it."""
        return self.headers[i] if i < len(self.headers) else ()


@dataclass(frozen=True, slots=True)
class Envelope:
    """Makes the messages of one view."""

    service: str
    output: Output
    encoding: Encoding
    partitions: int

    def messages(self, changes: Changes, reached: Reached, is_snapshot: bool) -> Messages:
        """The messages of the deltas up to a time (raises KeyNotUnique)."""
        assert self.output.target is not None
        return _MAKERS[self.output.target.envelope](self, changes, reached, is_snapshot)

    @property
    def frontier_messages(self) -> int:
        """The number of messages that say that a time is complete."""
        assert self.output.target is not None
        return self.partitions if self.output.target.envelope == "delta" else 0

    def frontiers(self, reached: Reached) -> Messages:
        """The messages that say, in every partition, that a time is complete."""
        n = self.frontier_messages
        if not n:
            return Messages([], [], [], [])
        value = self.encoding.frontier(reached.time, reached.offsets)
        return Messages([None] * n, [value] * n, [reached.time] * n, list(range(n)))

    def keys(self, rows: pa.RecordBatch) -> list[bytes]:
        """The keys of rows."""
        return self.encoding.keys(rows.select(list(self.output.key)))

    def headers(self, rows: pa.RecordBatch) -> list[Headers]:
        """The headers of messages of these rows; none at all where no columns are named."""
        assert self.output.target is not None
        names = self.output.target.headers
        return row_headers(rows.select(list(names))) if names else []


def _deltas(made: Envelope, changes: Changes, reached: Reached, is_snapshot: bool) -> Messages:
    keys: list[bytes | None]
    if made.output.is_unique:
        keys = [*made.keys(changes.rows)]
        partitions = [BY_KEY] * len(keys)
    else:
        keys = [None] * changes.rows.num_rows
        partitions = (row_hashes(changes.rows) % np.uint64(made.partitions)).tolist()
    errors = changes.errors.num_rows
    return Messages(
        keys + [None] * errors,
        [*made.encoding.deltas(changes)],
        changes.times.tolist() + changes.error_times.tolist(),
        partitions + [0] * errors,
        made.headers(changes.rows),
    )


def _upserts(made: Envelope, changes: Changes, reached: Reached, is_snapshot: bool) -> Messages:
    changed = net(changes, made.output.key)
    is_there = changed.after >= 0
    rows = iter(made.encoding.rows(changes.rows.take(picked(changed.after[is_there]))))
    values = [next(rows) if there else None for there in is_there.tolist()]
    named = changes.rows.take(picked(changed.named))
    keys, times = made.keys(named), changed.times.tolist()
    return Messages([*keys], values, times, [BY_KEY] * len(keys), made.headers(named))


def _events(made: Envelope, changes: Changes, reached: Reached, is_snapshot: bool) -> Messages:
    changed = net(changes, made.output.key)
    origin = Origin(made.service, made.output.name, reached.moment // 1000, is_snapshot)
    events = made.encoding.events(changes.rows, changed, origin)
    named = changes.rows.take(picked(changed.named))
    keys, times = made.keys(named), changed.times.tolist()
    return _with_tombstones(Messages([*keys], [*events], times, [], made.headers(named)), changed)


def _with_tombstones(messages: Messages, changed: Net) -> Messages:
    found = Messages([], [], [], [])
    is_deleted = (changed.after < 0).tolist()
    columns = zip(messages.keys, messages.values, messages.times, is_deleted, strict=True)
    for i, (key, value, time, deleted) in enumerate(columns):
        for said in (value, None) if deleted else (value,):
            found.keys.append(key)
            found.values.append(said)
            found.times.append(time)
            found.partitions.append(BY_KEY)
            if messages.headers:
                found.headers.append(messages.headers[i])
    return found


_MAKERS: dict[str, Callable[[Envelope, Changes, Reached, bool], Messages]] = {
    "delta": _deltas,
    "upsert": _upserts,
    "debezium": _events,
}
