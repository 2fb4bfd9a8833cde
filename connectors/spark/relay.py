"""The relay of a real-time task: decodes records that have come, and puts them to the endpoint.

Spark gives the records one by one (see `connectors.spark.realtime`). A thread of its own decodes
and puts those that have come while it did so before; so batches are as small as the load allows,
and larger as soon as it does not.
"""

import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import pyarrow as pa

from connectors.errors import Unavailable
from connectors.records import Headers, Records
from connectors.spark.endpoint import Address, Putter

Decode = Callable[[str, Records], Iterator[pa.RecordBatch]]

# Each put costs about a millisecond here and one at the pool, however little it holds: a task puts
# no more often than this, in seconds. What comes after a pause goes at once.
_PERIOD = 0.02
# How long to wait before asking again what was out of reach, in seconds.
_PAUSE = 1.0
# How many records may wait before the task does, and so Kafka.
_ROOM = 10_000


class Row(NamedTuple):
    """A record as Spark gives it to a function, its timestamp in milliseconds."""

    key: bytes | None
    value: bytes | None
    topic: str
    partition: int
    offset: int
    timestamp: int
    header_names: list[str] | None
    header_values: list[bytes | None] | None


class Relay:
    """Puts the records of one partition in order; the last when nobody holds the relay any more."""

    def __init__(self, decode: Decode, address: Address) -> None:
        self._work = _Work(decode, Putter(address))
        weakref.finalize(self, self._work.end)
        threading.Thread(target=self._work.run, name="relay", daemon=True).start()

    def add(self, row: Row) -> None:
        """Let this record be put, too (raises the error of an earlier one)."""
        self._work.add(row)


class _Work:
    """The work of a relay's thread."""

    def __init__(self, decode: Decode, putter: Putter) -> None:
        self._decode = decode
        self._putter = putter
        self._changed = threading.Condition()
        self._waiting: list[Row] = []
        self._is_open = True
        self._error: Exception | None = None

    def add(self, row: Row) -> None:
        with self._changed:
            if len(self._waiting) >= _ROOM:
                self._changed.wait_for(lambda: not self._waiting or self._error is not None)
            if self._error is not None:
                raise self._error
            self._waiting.append(row)
            self._changed.notify()

    def end(self) -> None:
        with self._changed:
            self._is_open = False
            self._changed.notify()

    def run(self) -> None:
        try:
            while rows := self._taken():
                started = time.monotonic()
                self._put(rows)
                time.sleep(max(0.0, started + _PERIOD - time.monotonic()))
        except Exception as error:
            with self._changed:
                self._error = error
                self._changed.notify()
        finally:
            self._putter.close()

    def _put(self, rows: list[Row]) -> None:
        """Put `rows`, once a registry that is needed is within reach; tell while it is not."""
        while True:
            try:
                chunks = pa.Table.from_batches(self._decode(rows[0].topic, _records(rows)))
            except Unavailable as error:
                self._putter.tell(error)
                if not self._is_open:
                    raise
                time.sleep(_PAUSE)
            else:
                self._putter.put(chunks.combine_chunks().to_batches()[0])
                return

    def _taken(self) -> list[Row]:
        """All that waits, once there is any; nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._is_open)
            taken, self._waiting = self._waiting, []
            self._changed.notify()
            return taken


def _records(rows: Sequence[Row]) -> Records:
    return Records(
        values=[row.value for row in rows],
        offsets=[row.offset for row in rows],
        partition=rows[0].partition,
        keys=[row.key for row in rows],
        timestamps=[row.timestamp for row in rows],
        headers=_headers(rows),
    )


def _headers(rows: Sequence[Row]) -> list[Headers | None] | None:
    if all(row.header_names is None for row in rows):
        return None
    return [
        None
        if row.header_names is None or row.header_values is None
        else list(zip(row.header_names, row.header_values, strict=True))
        for row in rows
    ]
