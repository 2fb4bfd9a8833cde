"""The tables of a cluster: each member applies the changes of the rows that it owns.

Tasks bring rows to their owners. Here only references to them arrive, with what has to be decided
in one place: their order and times, which are repetitions, and when a time is complete. So this
process handles some bytes of a row, however many it has.
"""

from collections.abc import Collection, Sequence
from contextlib import closing
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.ingest.miscounted import Miscounted, merged
from connectors.ingest.tables import LocalTables, Settled
from connectors.ingest.upsert import Changes, Indices, Times, joined_rows
from connectors.progress.batches import TableUpdates
from connectors.spark.bringing import Bringing
from connectors.tables.table import Table
from ivm.cluster.dealing import PARCEL, REFERENCES, Lying, dealt, owners_of_keys, parcels_of
from ivm.cluster.lending import LendingPool
from ivm.cluster.pool import ClusterPool

_NO_REFERENCES = pa.RecordBatch.from_pylist([], REFERENCES)


class DealtTables:
    """The tables of the members of a cluster; see `connectors.ingest.tables.Tables`."""

    def __init__(self, pool: ClusterPool) -> None:
        self._pool = pool
        self._over: set[int] = set()

    def rows_of(self, updates: TableUpdates) -> pa.RecordBatch:
        """The references; rows that no task has dealt, as those of corrections, are dealt here."""
        if PARCEL in updates.rows.schema.names:
            return updates.rows
        with closing(Bringing(self._pool.owners)) as bringing:
            references = bringing.deal(updates.origin.spec, updates.rows)
            bringing.flush()
        self._over |= parcels_of(references)
        return references

    def feed(self, table: Table, changes: Changes) -> None:
        """Let each member feed what it owns; a truncation goes to all."""
        parts = self._divided(changes)
        self._pool.post(_feed, [(table, own) if len(own.diffs) else None for _, own in parts])

    def settle(self, table: Table, changes: Changes) -> Settled:
        """Let each member feed what the changes of the keys that it owns come to."""
        parts = self._divided(changes)
        found = self._pool.carry_out(_settle, [(table, own) for _, own in parts])
        unavailable: list[Indices] = [
            positions[settled.unavailable]
            for (positions, _), settled in zip(parts, found, strict=True)
        ]
        return Settled(sum(one.absent for one in found), np.sort(np.concatenate(unavailable)))

    def keys_of(self, table: Table, rows: pa.RecordBatch) -> pa.RecordBatch:
        """The references."""
        return rows

    def miscounted(
        self, table: Table, keys: Sequence[pa.RecordBatch], known: pa.RecordBatch | None
    ) -> Miscounted | None:
        """Let each member look up the keys that it owns."""
        references = joined_rows([*keys, _NO_REFERENCES])
        nowhere = np.zeros(references.num_rows, np.bool_)
        parts = dealt(references, self._members, nowhere)
        owned = self._owned(known)
        given = [(table, lying, own) for (_, lying), own in zip(parts, owned, strict=True)]
        return merged(self._pool.carry_out(_miscounted, given))

    def release(self, parcels: Collection[int]) -> None:
        """Drop these parcels with the next `finish`."""
        self._over.update(parcels)

    def keep(self, parcels: Collection[int]) -> None:
        """Let members drop all but these parcels, and those that are in use.

        Returns once they have: tasks that begin then may bring others.
        """
        self._pool.carry_out(_keep, [(frozenset(parcels) | self._over,)] * self._members)

    def finish(self) -> None:
        """Let members drop what was released."""
        if self._over:
            self._pool.post(_drop, [(frozenset(self._over),)] * self._members)
            self._over.clear()

    @property
    def _members(self) -> int:
        assert self._pool.owners is not None, "the pool is started"
        return len(self._pool.owners.addresses)

    def _divided(self, changes: Changes) -> list[tuple[Indices, "_Own"]]:
        """For each member the changes of its rows, and their positions among all."""
        found = []
        for positions, lying in dealt(changes.rows, self._members, changes.diffs == 0):
            missing = None if changes.missing is None else changes.missing.take(positions)
            own = _Own(lying, changes.diffs[positions], changes.times[positions], missing)
            found.append((positions, own))
        return found

    def _owned(self, keys: pa.RecordBatch | None) -> list[pa.RecordBatch | None]:
        """For each member those of the keys that it owns."""
        if keys is None:
            return [None] * self._members
        owners = owners_of_keys(keys, keys.schema, self._members)
        return [keys.filter(pa.array(owners == member)) for member in range(self._members)]


class _Own(NamedTuple):
    """The changes of the rows that a member owns, and where these lie."""

    lying: Lying
    diffs: NDArray[np.int64]
    times: Times
    missing: pa.Array | None


def _changes(pool: LendingPool, table: Table, own: _Own) -> Changes:
    return Changes(_rows(pool, table, own.lying), own.diffs, own.times, own.missing)


def _rows(pool: LendingPool, table: Table, given: Lying) -> pa.RecordBatch:
    return pool.parcels.rows(given.numbers, given.which, given.places, table.schema)


def _feed(pool: LendingPool, table: Table, own: _Own) -> None:
    LocalTables(pool).feed(table, _changes(pool, table, own))


def _settle(pool: LendingPool, table: Table, own: _Own) -> Settled:
    return LocalTables(pool).settle(table, _changes(pool, table, own))


def _miscounted(
    pool: LendingPool, table: Table, given: Lying, known: pa.RecordBatch | None
) -> Miscounted | None:
    tables = LocalTables(pool)
    keys = tables.keys_of(table, _rows(pool, table, given))
    return tables.miscounted(table, [keys], known)


def _drop(pool: LendingPool, parcels: Collection[int]) -> None:
    pool.parcels.drop(parcels)


def _keep(pool: LendingPool, parcels: Collection[int]) -> None:
    pool.parcels.keep(parcels)
