"""The forms of a change feed: server-sent events, and a stream of Arrow record batches."""

import io
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import orjson
import pyarrow as pa
from sse_starlette import ServerSentEvent

from api.feed import Event
from api.snapshots import Part
from connectors.columns.to_arrow import to_array

EVENTS = "text/event-stream"
ARROW = "application/vnd.apache.arrow.stream"
# Columns beside the view's: of a row, its time and how many copies came or went; else that all
# changes up to the time have come.
TIME, DIFF, PROGRESSED = "ivm_time", "ivm_diff", "ivm_progressed"
# Metadata of a batch: the name that the view has from now on.
NAME = b"ivm_view"
_END_OF_STREAM = b"\xff\xff\xff\xff\0\0\0\0"


class Form(Protocol):
    """Writes what happens to a view as the bytes of one stream."""

    media: str

    def fits(self, schema: pa.Schema) -> bool:
        """Whether rows of this schema can be written."""

    def begin(self) -> bytes:
        """The bytes before everything else."""

    def snapshot(self, part: Part) -> bytes:
        """Rows that are there."""

    def changes(self, event: Event) -> bytes:
        """Changes of a time, or a part of them."""

    def renamed(self, name: str) -> bytes:
        """The view has another name from now on."""

    def end(self, detail: str) -> bytes:
        """There is no more, and why."""

    def heartbeat(self) -> bytes:
        """Bytes that say nothing but that the stream is alive."""


class ServerSentEvents:
    """Events `snapshot`, `changes` and `end`, with JSON as their data."""

    media = EVENTS

    def fits(self, schema: pa.Schema) -> bool:
        """Each row names its columns."""
        return True

    def begin(self) -> bytes:
        """Nothing."""
        return b""

    def snapshot(self, part: Part) -> bytes:
        """Rows of a snapshot; only the last ones have an id."""
        data = {"time": part.time, "rows": part.rows, "counts": part.counts}
        return _sent("snapshot", data, part.time if part.is_last else None)

    def changes(self, event: Event) -> bytes:
        """Deltas of a time; only the last ones have an id, and the offsets that are reflected."""
        data: dict[str, Any] = {"time": event.time, "deltas": event.deltas}
        if event.reflected is None:
            return _sent("changes", data, None)
        return _sent("changes", data | event.reflected, event.time)

    def renamed(self, name: str) -> bytes:
        """The event `renamed`."""
        return _sent("renamed", {"view": name}, None)

    def end(self, detail: str) -> bytes:
        """The event `end`."""
        return _sent("end", {"detail": detail}, None)

    def heartbeat(self) -> bytes:
        """A comment."""
        return ServerSentEvent(comment="ping").encode()


class ArrowBatches:
    """An Arrow IPC stream: the view's columns, and those of `TIME`, `DIFF` and `PROGRESSED`.

    A row that says how far the stream has come has NULL in the view's columns.
    """

    media = ARROW

    def __init__(self, schema: pa.Schema) -> None:
        """Rows have this schema."""
        self._rows = schema
        fields = [field.with_nullable(True) for field in schema]
        fields += [
            pa.field(TIME, pa.uint64(), nullable=False),
            pa.field(DIFF, pa.int64(), nullable=False),
            pa.field(PROGRESSED, pa.bool_(), nullable=False),
        ]
        self._schema = pa.schema(fields)

    def fits(self, schema: pa.Schema) -> bool:
        """The stream has one schema."""
        return bool(schema.equals(self._rows))

    def begin(self) -> bytes:
        """The schema."""
        return self._schema.serialize().to_pybytes()

    def snapshot(self, part: Part) -> bytes:
        """Rows of a snapshot, with their counts as the diffs."""
        return self._batch(part.rows, part.counts, part.time, part.is_last)

    def changes(self, event: Event) -> bytes:
        """Deltas of a time; below the last ones is a row that it is complete."""
        rows, diffs = [d["row"] for d in event.deltas], [d["diff"] for d in event.deltas]
        return self._batch(rows, diffs, event.time, event.reflected is not None)

    def renamed(self, name: str) -> bytes:
        """No rows; metadata of their batch have the name. It is cut from a stream of its own."""
        stream = io.BytesIO()
        with pa.ipc.new_stream(stream, self._schema) as writer:
            empty = pa.RecordBatch.from_pylist([], schema=self._schema)
            writer.write_batch(empty, custom_metadata={NAME: name.encode()})
        return stream.getvalue()[len(self.begin()) : -len(_END_OF_STREAM)]

    def end(self, detail: str) -> bytes:
        """The end of the stream; why, the view's status says."""
        return _END_OF_STREAM

    def heartbeat(self) -> bytes:
        """No rows."""
        return self._batch([], [], 0, False)

    def _batch(
        self, rows: Sequence[Mapping[str, Any]], diffs: Sequence[int], time: int, complete: bool
    ) -> bytes:
        marks = int(complete)
        columns = [
            pa.concat_arrays([to_array([row[f.name] for row in rows], f), pa.nulls(marks, f.type)])
            for f in self._rows
        ]
        columns += [
            pa.array([time] * (len(rows) + marks), pa.uint64()),
            pa.array([*diffs, *[0] * marks], pa.int64()),
            pa.array([False] * len(rows) + [True] * marks),
        ]
        batch = pa.RecordBatch.from_arrays(columns, schema=self._schema)
        return batch.serialize().to_pybytes()


def _sent(name: str, data: dict[str, Any], time: int | None) -> bytes:
    text = orjson.dumps(data).decode()
    return ServerSentEvent(text, event=name, id=None if time is None else str(time)).encode()
