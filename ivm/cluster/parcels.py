"""Parcels: rows that come to the members that own them, ahead of the commands that use them.

Whoever has rows of an input deals them (`ivm.cluster.dealing`): each member gets those that it owns
under the number of the parcel, and the cluster is told where each row lies. A member keeps its part
of a parcel until it is told to drop it.
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from struct import Struct
from threading import Lock, Thread

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.cluster.links import Entrance, Link
from ivm.errors import PoolFailed

NUMBER = Struct("!q")
"""The number of a parcel, before its rows in a message."""


class Parcels:
    """The parcels of one member, by number; any thread may call.

    `received_rows` counts the rows of all that came.

    >>> parcels = Parcels()
    >>> parcels.put(7, pa.record_batch({"id": [10, 20, 30]}))
    >>> which, places = np.zeros(2, np.int32), np.array([2, 0], np.int32)
    >>> parcels.rows([7], which, places, pa.schema([("id", pa.int64())]))["id"]
    <pyarrow.lib.Int64Array object at ...>
    [
      30,
      10
    ]
    """

    def __init__(self) -> None:
        self.received_rows = 0
        self._rows: dict[int, pa.RecordBatch] = {}
        self._lock = Lock()

    def put(self, number: int, rows: pa.RecordBatch) -> None:
        """Keep these rows as a parcel, in place of what came before under its number."""
        with self._lock:
            self._rows[number] = rows
            self.received_rows += rows.num_rows

    def rows(
        self,
        numbers: Sequence[int],
        which: NDArray[np.int32],
        places: NDArray[np.int32],
        schema: pa.Schema,
    ) -> pa.RecordBatch:
        """The rows at `places[i]` of the parcels `numbers[which[i]]`, which have this schema.

        A row whose place is -1 has no values. Raises PoolFailed where a parcel is not there.
        """
        with self._lock:
            parts = [self._rows.get(number) for number in numbers]
        there = [part for part in parts if part is not None]
        if len(there) < len(parts):
            raise PoolFailed("rows that were brought to a member of the cluster are not there")
        begins = np.cumsum([0, *(part.num_rows for part in there)])
        indices = begins[which] + places if len(numbers) else places
        together = pa.Table.from_batches(there, schema).combine_chunks()
        batch = next(iter(together.to_batches()), pa.RecordBatch.from_pylist([], schema))
        if np.array_equal(indices, np.arange(batch.num_rows)):
            return batch
        chosen: pa.Array = pa.array(indices, mask=places < 0)
        return batch.take(chosen)

    def drop(self, numbers: Collection[int]) -> None:
        """Drop these parcels, so far as they are there."""
        with self._lock:
            for number in numbers:
                self._rows.pop(number, None)

    def keep(self, numbers: Collection[int]) -> None:
        """Drop all parcels but these."""
        with self._lock:
            self._rows = {n: rows for n, rows in self._rows.items() if n in numbers}

    def __len__(self) -> int:
        return len(self._rows)


class Receiving:
    """Takes parcels of all that come to an entrance, each on a thread of its own; close it."""

    def __init__(self, entrance: Entrance, parcels: Parcels) -> None:
        self._entrance = entrance
        self._parcels = parcels
        self._links: list[Link] = []
        self._lock = Lock()
        Thread(target=self._admit, name="parcels", daemon=True).start()

    def close(self) -> None:
        """Let nobody in any more, and take nothing more."""
        self._entrance.close()
        with self._lock:
            for link in self._links:
                link.cut()

    def _admit(self) -> None:
        with suppress(OSError):  # the entrance was closed
            while True:
                link = self._entrance.accept()
                with self._lock:
                    self._links.append(link)
                Thread(target=self._receive, args=(link,), name="parcels", daemon=True).start()

    def _receive(self, link: Link) -> None:
        """Keep what comes, and say so, until the other end has gone."""
        with link, suppress(EOFError, OSError):
            while True:
                message = link.recv_bytes()
                [number] = NUMBER.unpack_from(message)
                content = pa.py_buffer(message).slice(NUMBER.size)
                self._parcels.put(number, pa.ipc.open_stream(content).read_next_batch())
                link.send_bytes(b"")
        with self._lock:
            self._links.remove(link)
