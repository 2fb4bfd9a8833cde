"""Reads: rows of a pool's collections, by key or all, at the last completed time or one held.

They run beside steps. A read sees the batches that the last completed step has published; a hold
keeps earlier times apart in them.
"""

from collections.abc import Mapping

import pyarrow as pa

from ivm.dataflow.arguments import one_time
from ivm.errors import SchemaMismatch, TimeCompacted, out_of_memory
from ivm.installed.collection import Collection
from ivm.installed.core import Core
from ivm.installed.failures import overflowed
from ivm.installed.holds import Hold
from ivm.installed.pieces import Index
from ivm.results import Found, Snapshot
from ivm.runtime.readers import snapshot


class Reads:
    """Answers reads of the pool of `core`, as the methods of `Pool` that have their names say."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def hold(self, name: str, time: int | None) -> Hold:
        """Keep times from `time` on apart; the caller holds the gate."""
        core = self._core
        collection = core.catalog.find(name)
        collection.first_index()
        wanted = core.last if time is None else one_time(time)
        indexes = [index for _, index in collection.indexes]
        try:
            hold = core.holds.new(name, wanted, core.last, indexes)
            core.row_errors.keep_from(core.holds.earliest)
        except MemoryError as shortage:
            raise out_of_memory(f"a hold of {name!r}", shortage) from shortage
        return hold

    def peek(self, name: str, key: Mapping[str, object], as_of: int | None) -> Snapshot:
        """Read the rows with one key."""
        collection = self._core.catalog.find(name)
        if not isinstance(key, Mapping):
            raise SchemaMismatch(f"a key is a mapping of columns to values, not {key!r}")
        index = collection.index_on(key)
        return self._read(collection, index, [key[column] for column in index.key_names], as_of)

    def look_up(self, name: str, keys: pa.RecordBatch) -> Found:
        """Read the rows with each of many keys."""
        collection = self._core.catalog.find(name)
        if not isinstance(keys, pa.RecordBatch):
            raise SchemaMismatch(f"keys are a RecordBatch, not a {type(keys).__name__}")
        names = keys.schema.names
        if len(set(names)) < len(names):
            raise SchemaMismatch(f"keys with a column twice: {', '.join(names)}")
        index = collection.index_on(names)
        _refuse_overflow(collection)
        try:
            return index.look_up(keys, collection.layout, self._core.interner)
        except MemoryError as shortage:
            raise out_of_memory(f"a look-up in {name!r}", shortage) from shortage
        except OverflowError as error:
            raise overflowed(name) from error
        finally:
            self._release_what_was_sought()

    def scan(self, name: str, as_of: int | None) -> Snapshot:
        """Read all rows."""
        collection = self._core.catalog.find(name)
        return self._read(collection, collection.first_index()[1], None, as_of)

    def _read(
        self, collection: Collection, index: Index, values: list[object] | None, as_of: int | None
    ) -> Snapshot:
        core = self._core
        wanted = None if as_of is None else one_time(as_of)
        _refuse_overflow(collection)
        try:
            rows, counts, last = snapshot(
                index.trace,
                core.schedule,
                index.shape.restored,
                collection.layout,
                core.interner,
                values,
                index.key,
                wanted,
            )
        except MemoryError as shortage:
            raise out_of_memory(f"a look-up in {collection.name!r}", shortage) from shortage
        except OverflowError as error:
            raise overflowed(collection.name) from error
        finally:
            self._release_what_was_sought()
        errors = core.row_errors.counted(collection, wanted)
        # Only now: a hold that is there afterwards was there when the batches were taken.
        if wanted is not None and wanted < last and not core.holds.cover(index, wanted):
            raise TimeCompacted(
                f"time {wanted} of {collection.name!r} is not kept for its arrangement by"
                f" ({', '.join(index.key_names)}): without a hold only the last one is, {last}"
            )
        return Snapshot(
            (None if last < 0 else last) if wanted is None else wanted, rows, counts, errors
        )

    def _release_what_was_sought(self) -> None:
        """Release strings once they are many: those that are looked for are kept like others.

        A step under way, or another reader, will do so.
        """
        core = self._core
        if not core.strings.many or core.interner.snapshots > 0:
            return
        if core.gate.try_enter():
            try:
                core.strings.release()
            finally:
                core.gate.leave()


def _refuse_overflow(collection: Collection) -> None:
    """Refuse to read an input whose counts overflowed: it stays where a dataflow is dropped."""
    if collection.intake is not None and collection.piece.failure is not None:
        raise overflowed(collection.name)
