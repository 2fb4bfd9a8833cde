"""Dealing: brings rows to the members of a cluster that own them, from whichever process has them.

What is left are references: for each row the parcel in which it travelled, its owner, and its place
in the owner's part. They are rows themselves, and are cut, chosen and put together as such.
"""

import secrets
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.cluster.credentials import Credentials
from ivm.cluster.links import Address, enter
from ivm.cluster.parcels import NUMBER
from ivm.rows.owners import owners_of

PARCEL, OWNER, PLACE = "\0parcel", "\0owner", "\0place"
"""The columns of a reference, under names that no column of an input has."""

_FIELDS: list[pa.Field] = [
    pa.field(PARCEL, pa.int64()),
    pa.field(OWNER, pa.int16()),
    pa.field(PLACE, pa.int32()),
]
REFERENCES = pa.schema(_FIELDS)
"""The schema of references."""

MOST_UNANSWERED = 64
"""Parcels on their way to a member: the answers to so many have room in any socket."""


@dataclass(frozen=True, slots=True)
class Owners:
    """The members of a cluster, by number, as those know them that bring parcels."""

    addresses: tuple[Address, ...]
    credentials: Credentials


class Dealer:
    """Connections with all owners, by which one thread at a time deals rows; close it.

    Raises OSError, EOFError and AuthenticationError where an owner cannot be reached.
    """

    def __init__(self, owners: Owners) -> None:
        self._links = []
        self._unanswered: Counter[int] = Counter()
        try:
            for address in owners.addresses:
                self._links.append(enter(address, owners.credentials))
        except BaseException:
            self.close()
            raise

    def deal(self, rows: pa.RecordBatch, schema: pa.Schema, key: Sequence[str]) -> pa.RecordBatch:
        """Send each row of an input of this schema to its owner by its `key`: their references.

        They may be used once `flush` has returned. Rows may lack values that the input needs, as
        those of deletes do; one without a key has any owner.
        """
        number = secrets.randbits(NUMBER.size * 8 - 1)
        keys = pa.schema([schema.field(name) for name in key])
        owners = owners_of_keys(rows.select(key), keys, len(self._links))
        places = np.zeros(rows.num_rows, np.int32)
        for member in range(len(self._links)):
            own = np.flatnonzero(owners == member)
            if len(own):
                places[own] = np.arange(len(own))
                self._send(member, number, rows.take(own) if len(own) < len(owners) else rows)
        parcel = np.full(rows.num_rows, number, np.int64)
        found: list[NDArray[np.generic]] = [parcel, owners.astype(np.int16), places]
        return pa.RecordBatch.from_arrays(list(map(pa.array, found)), schema=REFERENCES)

    def flush(self) -> None:
        """Wait until all that was dealt is with its owners."""
        for member in list(self._unanswered):
            self._await(member, 0)

    @property
    def is_flushed(self) -> bool:
        """Whether all that was dealt is with its owners."""
        return not self._unanswered.total()

    def close(self) -> None:
        """Close the connections."""
        for link in self._links:
            link.close()

    def _send(self, member: int, number: int, rows: pa.RecordBatch) -> None:
        self._await(member, MOST_UNANSWERED - 1)
        sink = pa.BufferOutputStream()
        sink.write(NUMBER.pack(number))
        with pa.ipc.new_stream(sink, rows.schema) as writer:
            writer.write_batch(rows)
        self._links[member].send_bytes(memoryview(sink.getvalue()))
        self._unanswered[member] += 1

    def _await(self, member: int, most: int) -> None:
        """Wait until a member has yet to answer to so many parcels at most."""
        while self._unanswered[member] > most:
            self._links[member].recv_bytes()
            self._unanswered[member] -= 1


def owners_of_keys(keys: pa.RecordBatch, schema: pa.Schema, members: int) -> NDArray[np.int64]:
    """The owner, of so many members, of each key of this schema; 0 of one that lacks a value."""
    there = np.ones(keys.num_rows, np.bool_)
    for field, column in zip(schema, keys.columns, strict=True):
        if column.null_count and not field.nullable:
            there &= column.is_valid().to_numpy(zero_copy_only=False)
    owners = np.zeros(keys.num_rows, np.int64)
    found = keys if there.all() else keys.filter(pa.array(there))
    owners[there] = owners_of(found, schema, range(len(schema)), members)
    return owners


def parcels_of(references: pa.RecordBatch | pa.Table) -> set[int]:
    """The parcels that references name.

    >>> parcels_of(pa.table([[7, 8, 7], [0, 1, 0], [0, 0, 1]], schema=REFERENCES))
    {8, 7}
    """
    parcels = references[PARCEL].to_numpy()
    return set(parcels[_begins(parcels)].tolist())


class Lying(NamedTuple):
    """The places of rows that one member has, as `Parcels.rows` asks for them."""

    numbers: list[int]
    which: NDArray[np.int32]
    places: NDArray[np.int32]


def dealt(
    references: pa.RecordBatch, members: int, everywhere: NDArray[np.bool_]
) -> list[tuple[NDArray[np.int64], Lying]]:
    """For each of so many members its rows: their positions among all, and where they lie.

    They are in their order. A row is with its owner, and `everywhere` without values if it is to
    be.
    """
    parcels, owners, places = (column.to_numpy() for column in references.columns)
    found = []
    for member in range(members):
        positions = np.flatnonzero((owners == member) | everywhere)
        is_own = owners[positions] == member
        own = parcels[positions[is_own]]
        begins = _begins(own)
        which = np.zeros(len(positions), np.int32)
        which[is_own] = np.cumsum(begins) - 1
        at = np.where(is_own, places[positions], np.int32(-1))
        found.append((positions, Lying(own[begins].tolist(), which, at)))
    return found


def _begins(parcels: NDArray[np.int64]) -> NDArray[np.bool_]:
    """A mask of the rows that are of another parcel than the one before them."""
    begins: NDArray[np.bool_] = np.diff(parcels, prepend=-1) != 0  # numbers are not negative
    return begins
