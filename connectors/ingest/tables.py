"""Tables: the inputs of a pool as changes are applied to them, where their rows lie."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
import pyarrow as pa

from connectors.ingest.miscounted import Miscounted, miscounted
from connectors.ingest.upsert import Changes, Indices, emptied, fold, joined_rows
from connectors.progress.batches import TableUpdates
from connectors.tables.table import Table, normal_rows
from ivm.pool import Pool


@dataclass(frozen=True, slots=True)
class Settled:
    """The number of deletes that found no row, and the changes that were unavailable."""

    absent: int
    unavailable: Indices


class Tables(Protocol):
    """The tables of a pool; what is asked of them is as of the last completed time."""

    def rows_of(self, updates: TableUpdates) -> pa.RecordBatch:
        """The rows of a table's updates, or references to them, of which `Changes` are made."""

    def feed(self, table: Table, changes: Changes) -> None:
        """Feed changes of a table that is not keyed."""

    def settle(self, table: Table, changes: Changes) -> Settled:
        """Feed what changes of a keyed table come to (see `connectors.ingest.upsert`)."""

    def keys_of(self, table: Table, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The keys of these rows, or references to them, for `miscounted`."""

    def miscounted(
        self, table: Table, keys: Sequence[pa.RecordBatch], known: pa.RecordBatch | None
    ) -> Miscounted | None:
        """Those of a table's `keys`, and of those `known`, whose rows do not add up."""

    def release(self, parcels: Collection[int]) -> None:
        """Nothing further of these parcels comes; what came of them may be in use still."""

    def keep(self, parcels: Collection[int]) -> None:
        """Nothing of any other parcel comes, for tasks that brought some have ended."""

    def finish(self) -> None:
        """Nothing that came before is in use any more."""


class LocalTables:
    """The tables of a pool of this process; its own rows are all that there are."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def rows_of(self, updates: TableUpdates) -> pa.RecordBatch:
        """The rows, with keys in their normal form."""
        return normal_rows(updates.origin.spec, updates.rows)

    def feed(self, table: Table, changes: Changes) -> None:
        """Feed the changes; truncations among them empty the table as it is by now."""
        if np.all(changes.diffs):
            self._pool.feed(table.name, changes.rows, changes.diffs, changes.times)
            return
        for part in emptied(table.name, changes, self._pool):
            self._pool.feed(table.name, part.rows, part.diffs, part.times)

    def settle(self, table: Table, changes: Changes) -> Settled:
        """Feed the exact updates that the changes make."""
        folded = fold(table.name, table.key, changes, self._pool)
        for part in folded.updates:
            self._pool.feed(table.name, part.rows, part.diffs, part.times)
        return Settled(folded.absent, folded.unavailable)

    def keys_of(self, table: Table, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The columns of the key; without one a row is its own."""
        return rows.select(table.owner_key)

    def miscounted(
        self, table: Table, keys: Sequence[pa.RecordBatch], known: pa.RecordBatch | None
    ) -> Miscounted | None:
        """Look all of them up."""
        looked_at = joined_rows([*keys, *([] if known is None else [known])])
        found = self._pool.look_up(table.name, looked_at)
        return miscounted(looked_at, found, is_keyed=bool(table.key))

    def release(self, parcels: Collection[int]) -> None:
        """There are none."""

    def keep(self, parcels: Collection[int]) -> None:
        """There are none."""

    def finish(self) -> None:
        """There is nothing to be dropped."""
