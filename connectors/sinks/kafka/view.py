"""One view on its way to Kafka: its published state, and the deltas that wait.

Deltas are kept as they were drained until their transaction is committed, so a transaction can be
written again; they are encoded by stages of a bounded size. Only the snapshot of a new view can
have several stages, each in a transaction of its own: its rows are all additions at one time, so
any division of them is good, and a transaction that lasts as long as a large snapshot would be
given up by the broker. A reader sees each row of the snapshot once, and knows that it has seen all
by the frontier record (envelope `delta`), which only the last stage has. Should the service die in
between, the view is not registered: putting it again begins a new life, with the snapshot whole,
and the header `life` tells its messages from those of the former one.

A view whose topic cannot be written at present stalls: its deltas are kept, it lags behind the
others, and later it catches up in transactions of its own. So one topic holds up nobody else, and
its readers see every state that the view had, only late. That the others go on is sound because no
transaction told readers of this view anything else: a record of progress says how far it is. What
it lacks is kept in memory, up to a bound; beyond that, and after a restart, it has failed.
"""

import time as clock
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np
import pyarrow as pa
import structlog

from connectors.errors import KeyNotUnique, RecordTooLarge, SinkDiverged, SinkLagging
from connectors.sinks.digest import weight
from connectors.sinks.envelopes import Envelope, Messages
from connectors.sinks.headers import Headers as RowHeaders
from connectors.sinks.kafka.counts import Sent
from connectors.sinks.kafka.producer import Headers
from connectors.sinks.kafka.progress import Published
from connectors.sinks.kafka.topics import Topic
from connectors.sinks.sink import Changes, Output, Reached, Redefined

# Arrow's size of the rows of a snapshot that one transaction carries.
STAGE_BYTES = 64 << 20
# Arrow's size of the deltas that a stalled view keeps, at most.
BACKLOG_BYTES = 256 << 20
# How long to wait before a stalled view is tried again, in seconds: at first, and at most.
_FIRST_WAIT, _LONGEST_WAIT = 1.0, 30.0
# What Kafka puts around a record and its headers, at most; and around a batch.
_RECORD_OVERHEAD = 160
_BATCH_OVERHEAD = 100
# The lengths of a header's name and of its value, at most.
_HEADER_OVERHEAD = 10

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Written:
    """Deltas that were written and not committed, with what makes messages of them."""

    changes: Changes
    reached: Reached
    envelope: Envelope


@dataclass(frozen=True, slots=True)
class Outgoing:
    """Messages of one view for one transaction; `state` is its progress once it is committed."""

    topic: str
    view: str
    messages: Messages
    first: int
    state: Published

    def headers(self, i: int) -> Headers:
        """The headers of message `i`."""
        own: Headers = [
            ("view", self.view.encode()),
            ("life", b"%d" % self.state.life),
            ("time", b"%d" % self.messages.times[i]),
            ("sequence", b"%d" % (self.first + i)),
        ]
        return [*own, *self.messages.headers_of(i)] if self.messages.headers else own


class KafkaView:
    """The view between two commits; `state` is its state as of the last one."""

    def __init__(
        self,
        envelope: Envelope,
        topic: Topic,
        state: Published,
        *,
        is_new: bool,
        owed: Mapping[bytes, int] = MappingProxyType({}),
    ) -> None:
        """`owed` are keys, with their partitions, that a new view takes back unless it has them."""
        self.topic = topic
        self._owed = dict(owed)
        self.state = replace(state, frontiers=envelope.frontier_messages)
        self._envelope = envelope
        self._is_new = is_new
        self._replayed = 0
        self._written: list[Written] = []
        self.stalled: str | None = None
        self._wait = _FIRST_WAIT
        self._due = 0.0
        self._messages_sent = 0
        self._bytes_sent = 0

    @property
    def output(self) -> Output:
        """The view as it was declared."""
        return self._envelope.output

    @property
    def waiting(self) -> Sequence[Written]:
        """The deltas that were written and not committed."""
        return tuple(self._written)

    @property
    def sent(self) -> Sent:
        """What was published since the view was opened or restored, and what waits."""
        waiting = sum(written.changes.rows.nbytes for written in self.waiting)
        return Sent(self._messages_sent, self._bytes_sent, waiting)

    def count(self, outgoing: Outgoing) -> None:
        """Count messages that were committed."""
        messages = outgoing.messages
        self._messages_sent += len(messages)
        for texts in (messages.keys, messages.values):
            self._bytes_sent += sum(map(len, filter(None, texts)))

    @property
    def is_new(self) -> bool:
        """Whether its snapshot is not published yet, at least not whole."""
        return self._is_new

    @property
    def keeps_pace(self) -> bool:
        """Whether each time that is published tells its frontier, if need be."""
        is_behind = self.stalled is not None or self.state.complete is not None
        return bool(self.state.frontiers) and not (
            self._is_new or is_behind or self.state.failed is not None
        )

    @property
    def is_idle(self) -> bool:
        """Whether it has a frontier to tell, and no change that waits."""
        return self.keeps_pace and not any(map(_has_changes, self._written))

    def nothing(self, reached: Reached) -> Written:
        """No deltas, up to a time: a frontier alone."""
        return Written(_NoChanges(self.output.schema), reached, self._envelope)

    @property
    def is_due(self) -> bool:
        """Whether it has stalled and is to be tried again."""
        return self.stalled is not None and clock.monotonic() >= self._due

    def write(self, changes: Changes, reached: Reached) -> None:
        """Take deltas for the next transaction."""
        self._written.append(Written(changes, reached, self._envelope))
        if self.stalled and sum(w.changes.rows.nbytes for w in self._written) > BACKLOG_BYTES:
            self.fail(
                f"{SinkLagging.code}: more than {BACKLOG_BYTES:,} bytes of deltas wait to be "
                f"published ({self.stalled}); drop the view and make it anew"
            )

    def redefine(self, envelope: Envelope, redefined: Redefined, reached: Reached) -> None:
        """Take the difference to another definition, in the stead of deltas; `envelope` is its."""
        if redefined.gone is not None:
            self.write(redefined.gone, reached)
        self.follow(envelope)
        self.write(redefined.come, reached)

    def follow(self, envelope: Envelope) -> None:
        """Publish what comes from now on as another definition has it."""
        self._envelope = envelope
        self.state = replace(self.state, plan=envelope.output.plan)

    def skip(self, changes: Changes) -> None:
        """Note deltas that are committed."""
        self._replayed = (self._replayed + weight(changes)) % 2**64

    def expect_same(self) -> None:
        """Fail unless the replay came to the state that was published."""
        if self.state.failed is None and f"{self._replayed:x}" != self.state.digest:
            self.fail(
                f"{SinkDiverged.code}: a replay of its inputs gave other rows than were published; "
                "drop the view and make it anew"
            )

    def fail(self, reason: str) -> None:
        """Publish nothing more; the next transaction remembers why."""
        self.state = replace(self.state, failed=reason)
        self.stalled = None
        log.error("sink failed", view=self.output.name, reason=reason)

    def stall(self, reason: str, complete: int) -> None:
        """Publish nothing for a while; the published changes stay complete up to a time."""
        if self.stalled is None:
            self._wait = _FIRST_WAIT
            log.error("sink stalled", view=self.output.name, reason=reason)
        else:
            self._wait = min(self._wait * 2, _LONGEST_WAIT)
        self.stalled = reason
        self._due = clock.monotonic() + self._wait
        if self.state.complete is None:
            self.state = replace(self.state, complete=complete)

    def resume(self) -> None:
        """Keep pace with the others again."""
        self.stalled = None
        log.info("sink resumed", view=self.output.name)

    def finished(self, written: Sequence[Written]) -> None:
        """Note that the deltas written first are committed."""
        del self._written[: len(written)]
        self._is_new = False

    def backlog(self) -> Sequence[Written]:
        """The oldest of the written deltas, as many as fit a transaction, of whole times."""
        size, count, time = 0, 0, -1
        for written in self._written:
            size += written.changes.rows.nbytes
            if count and size > STAGE_BYTES and written.reached.time > time:
                break
            count, time = count + 1, written.reached.time
        return self._written[:count]

    def stages(self) -> Sequence[Sequence[Written]]:
        """The written deltas, divided into stages that each fit a transaction."""
        if not self._is_new:
            return [self.waiting]
        return [[part] for written in self._written for part in _divided(written)]

    def outgoing(
        self, written: Sequence[Written], is_last: bool, complete: int | None = None
    ) -> Outgoing:
        """The messages of a stage, or none, where the view has failed; then it is at `complete`.

        Raises KeyNotUnique, RecordTooLarge for a new view.
        """
        messages = Messages([], [], [], [])
        if self.state.failed is None:
            try:
                messages = self._messages(written, is_last)
            except (KeyNotUnique, RecordTooLarge) as error:
                if self._is_new:
                    raise
                self.fail(f"{error.code}: {error}")
        state = self.state
        is_told = is_last and state.frontiers and state.failed is None
        added = sum(weight(w.changes) for w in written) if state.failed is None else 0
        state = replace(
            state,
            digest=f"{(int(state.digest, 16) + added) % 2**64:x}",
            sequence=state.sequence + len(messages),
            complete=complete if state.failed is None else state.complete,
            told=written[-1].reached.time if is_told and written else state.told,
        )
        return Outgoing(self.topic.name, self.output.name, messages, self.state.sequence, state)

    def _messages(self, written: Sequence[Written], is_last: bool) -> Messages:
        target = self.output.target
        assert target is not None
        found = Messages([], [], [], [])
        for part, after in zip(written, [*written[1:], None], strict=True):
            if target.snapshot or not self._is_new:
                found.extend(part.envelope.messages(part.changes, part.reached, self._is_new))
                found.extend(self._tombstones(found.keys, part.reached, is_last))
            if is_last and (after is None or after.reached.time > part.reached.time):
                found.extend(part.envelope.frontiers(part.reached))
        self._refuse_large(found)
        return found

    def _tombstones(
        self, published: Sequence[bytes | None], reached: Reached, is_last: bool
    ) -> Messages:
        """At the end of a snapshot, tombstones of the keys owed that it has not `published`."""
        for key in published if self._owed else ():
            self._owed.pop(key or b"", None)
        if not self._is_new or not is_last:
            return Messages([], [], [], [])
        count = len(self._owed)
        partitions = list(self._owed.values())
        return Messages([*self._owed], [None] * count, [reached.time] * count, partitions)

    def _refuse_large(self, messages: Messages) -> None:
        """Raise RecordTooLarge for a message that the topic does not take."""
        limit = self.topic.limit - _BATCH_OVERHEAD - _RECORD_OVERHEAD - len(self.output.name)
        headers = max(map(_size, messages.headers), default=0)
        if _longest(messages.keys) + _longest(messages.values) + headers <= limit:
            return
        for i, (key, value) in enumerate(zip(messages.keys, messages.values, strict=True)):
            size = len(value or b"") + len(key or b"") + _size(messages.headers_of(i))
            if size > limit:
                named = (key or value or b"")[:200].decode(errors="replace")
                raise RecordTooLarge(
                    f"view {self.output.name!r}: the record with key {named} has {size:,} bytes, "
                    f"and topic {self.topic.name!r} takes {limit:,} (its max.message.bytes); "
                    "raise that, then drop the view and make it anew"
                )


def _longest(contents: Sequence[bytes | None]) -> int:
    return max(map(len, filter(None, contents)), default=0)


def _size(headers: RowHeaders) -> int:
    """The bytes that headers take in a record, at most."""
    return sum(len(name.encode()) + len(value or b"") + _HEADER_OVERHEAD for name, value in headers)


def _divided(written: Written) -> Iterator[Written]:
    rows = written.changes.rows
    step = max(1, STAGE_BYTES * rows.num_rows // max(1, rows.nbytes))
    if rows.num_rows <= step or (written.changes.diffs < 0).any():
        yield written
        return
    for start in range(0, rows.num_rows, step):
        yield replace(written, changes=_Part(written.changes, slice(start, start + step)))


class _Part:
    """A slice of the rows of deltas; the errors are with the first."""

    def __init__(self, whole: Changes, part: slice) -> None:
        errors = slice(0, None if part.start == 0 else 0)
        self.rows: pa.RecordBatch = whole.rows.slice(part.start, part.stop - part.start)
        self.times, self.diffs = whole.times[part], whole.diffs[part]
        self.errors: pa.RecordBatch = whole.errors if part.start == 0 else whole.errors.slice(0, 0)
        self.error_times = whole.error_times[errors]
        self.error_diffs = whole.error_diffs[errors]


class _NoChanges:
    """No deltas of rows of a schema."""

    def __init__(self, schema: pa.Schema) -> None:
        self.rows: pa.RecordBatch = pa.RecordBatch.from_pylist([], schema)
        self.errors: pa.RecordBatch = pa.record_batch({"error": pa.array([], pa.string())})
        self.times = self.error_times = np.empty(0, np.uint64)
        self.diffs = self.error_diffs = np.empty(0, np.int64)


def _has_changes(written: Written) -> bool:
    return bool(written.changes.rows.num_rows or written.changes.errors.num_rows)
