"""A task's side of real-time mode: decode what has come, and put it to the endpoint of the pool.

Spark gives the records one by one (see `connectors.spark.realtime`). A thread of its own decodes
and puts those that have come while it did so before; so batches are as small as the load allows,
and larger as soon as it does not.
"""

import threading
from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa

from connectors.spark.endpoint import Address, Putter

Decode = Callable[[Iterable[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class Relay:
    """A context: what was added has been put at its end, or its end raises why not."""

    def __init__(self, decode: Decode, address: Address) -> None:
        self._decode = decode
        self._putter = Putter(address)
        self._changed = threading.Condition()
        self._waiting: list[pa.RecordBatch] = []
        self._is_open = True
        self._error: Exception | None = None
        self._thread = threading.Thread(target=self._run, name="relay", daemon=True)

    def __enter__(self) -> "Relay":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        with self._changed:
            self._is_open = False
            self._changed.notify()
        self._thread.join()
        self._raise()

    def add(self, records: pa.RecordBatch) -> None:
        """Let the thread put these too (raises what it has met)."""
        self._raise()
        with self._changed:
            self._waiting.append(records)
            self._changed.notify()

    def _raise(self) -> None:
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            while batches := self._taken():
                self._putter.put(_joined(self._decode([_joined(batches)])))
        except Exception as error:
            self._error = error
        finally:
            self._putter.close()

    def _taken(self) -> list[pa.RecordBatch]:
        """All that waits, once there is any; nothing at the end."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or not self._is_open)
            taken, self._waiting = self._waiting, []
            return taken


def _joined(batches: Iterable[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of at least one batch as one."""
    return pa.Table.from_batches(list(batches)).combine_chunks().to_batches()[0]
