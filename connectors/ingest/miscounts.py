"""Finds keys of tables whose rows do not add up: where images before changes were not whole.

With replica identity `full` a row is added and taken away as it stands, so a key has one row or
none. It has others where a change takes away a row that is not there, which then is there -1 times,
as of an image that is not whole; or adds one to a key that has one, as a second snapshot does. Both
are told by key until later changes make up for them. A table without a key has any number of equal
rows, but no fewer than none: there a row is its key.

The keys of each batch are looked up in the table's own arrangement once their times are complete.
"""

from base64 import b64decode, b64encode
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import orjson
import pyarrow as pa
import structlog
from numpy.typing import NDArray

from connectors.ingest.upsert import Prior
from connectors.tables.spec import TableSpec
from ivm.results import Found

# So many keys of a table are looked at again with each of its batches, and so many are told.
REMEMBERED, TOLD = 10_000, 100

log = structlog.get_logger()


@dataclass(frozen=True, slots=True)
class Miscounted:
    """The `keys` of a table at fault, a message for each of the first ones, and for the rest."""

    keys: pa.RecordBatch
    messages: Mapping[str, int]


class Miscounts:
    """The keys at fault of each table; to be kept with the tables in a checkpoint."""

    def __init__(self, prior: Prior) -> None:
        """`prior` has the tables as of the last completed time."""
        self.faults: dict[str, Miscounted] = {}
        self._prior = prior
        self._noted: dict[str, list[pa.RecordBatch]] = {}
        self._unkeyed: set[str] = set()

    def note(self, table: str, key: Sequence[str], rows: pa.RecordBatch) -> None:
        """Let `check` look up the keys of these rows, and those that are at fault already."""
        self._note(table, rows.select(list(key)) if key else rows, is_keyed=bool(key))

    def _note(self, table: str, keys: pa.RecordBatch, *, is_keyed: bool) -> None:
        if not is_keyed:
            self._unkeyed.add(table)
        self._noted.setdefault(table, []).append(keys)

    def check(self) -> None:
        """Look up the keys that were noted, whose times are complete now."""
        for table, noted in self._noted.items():
            before = self.faults.get(table)
            keys = _joined([*noted, before.keys] if before is not None else noted)
            found = _miscounted(
                keys, self._prior.look_up(table, keys), is_keyed=table not in self._unkeyed
            )
            if found is None:
                self.faults.pop(table, None)
                continue
            self.faults[table] = found
            if before is None:
                log.error("rows do not add up", table=table, first=next(iter(found.messages)))
        self._noted.clear()

    def count(self, table: str) -> int:
        """The number of a table's keys at fault, as far as they are remembered."""
        found = self.faults.get(table)
        return found.keys.num_rows if found is not None else 0

    def forget(self, table: str) -> None:
        """Forget a table that was dropped."""
        self.faults.pop(table, None)
        self._noted.pop(table, None)
        self._unkeyed.discard(table)

    def to_json(self, table: str) -> str:
        """The keys of a table at fault, for `restore`."""
        found = self.faults.get(table)
        if found is None:
            return ""
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, found.keys.schema) as writer:
            writer.write_batch(found.keys)
        return b64encode(sink.getvalue().to_pybytes()).decode()

    def restore(self, spec: TableSpec, value: str) -> None:
        """Note the keys that `to_json` gave."""
        if value:
            for keys in pa.ipc.open_stream(b64decode(value)):
                self._note(spec.name, keys, is_keyed=bool(spec.key))


def _joined(batches: list[pa.RecordBatch]) -> pa.RecordBatch:
    table = pa.Table.from_batches(batches).combine_chunks()
    return next(iter(table.to_batches()), batches[0])


def _miscounted(keys: pa.RecordBatch, found: Found, *, is_keyed: bool) -> Miscounted | None:
    """The keys that have another number of rows than one or none; None if there is none.

    Rows of a table without a key may be there more than once.
    """
    groups = len(found.starts) - 1
    rows = np.bincount(found.owners, np.abs(found.counts), groups).astype(np.int64)
    lacking = np.bincount(found.owners, found.counts < 0, groups) > 0
    (faulty,) = np.nonzero(lacking | (rows > 1) if is_keyed else lacking)
    if not len(faulty):
        return None
    faulty = faulty[:REMEMBERED]
    which: NDArray[np.int64] = found.order[found.starts[faulty]]
    told = keys.take(which[:TOLD]).to_pylist()
    messages = {
        _message(key, int(rows[group]), bool(lacking[group])): 1
        for key, group in zip(told, faulty.tolist(), strict=False)
    }
    if len(faulty) > TOLD:
        messages["more keys have another number of rows than one"] = len(faulty) - TOLD
    return Miscounted(keys.take(which), messages)


def _message(key: Mapping[str, object], rows: int, is_lacking: bool) -> str:
    shown = orjson.dumps(key, default=str).decode()
    if is_lacking:
        return (
            f"key {shown}: a change took away a row that was not there, as its image before is not "
            "whole; set REPLICA IDENTITY FULL, or declare replica_identity 'default'"
        )
    return (
        f"key {shown}: {rows} rows, though it is the primary key: it was added again, as by a "
        "second snapshot; read a new topic, or declare replica_identity 'default'"
    )
