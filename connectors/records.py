"""Records of one partition as they come, and the changes of rows that they are decoded to."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

Part = Literal["key", "value"]

# A record's headers in their order; names may repeat.
Headers = Sequence[tuple[str, bytes | None]]


class Column(Sequence[Any]):
    """An Arrow array as a sequence of Python values, which are made where they are asked for."""

    def __init__(self, array: pa.Array) -> None:
        self.array = array

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, which: Any) -> Any:
        found = self.array[which]
        return Column(found) if isinstance(which, slice) else found.as_py()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.array.to_pylist())


@dataclass(frozen=True, slots=True)
class Records:
    """Consecutive records of one partition, by column: record `i` stands at `offsets[i]`.

    Offsets ascend, with gaps where the broker has any. `timestamps` are milliseconds since the
    epoch. File topics have `values` and `offsets` only.
    """

    values: Sequence[bytes | None]
    offsets: Sequence[int]
    partition: int = 0
    keys: Sequence[bytes | None] | None = None
    timestamps: Sequence[int] | None = None
    headers: Sequence[Headers | None] | None = None

    def __len__(self) -> int:
        return len(self.values)

    def contents(self, part: Part) -> Sequence[bytes | None]:
        """The values, or the keys, of which there may be none."""
        return self.values if part == "value" else self.keys or [None] * len(self)

    def places(self) -> NDArray[np.int64]:
        """The offsets."""
        return _numbers(self.offsets)

    def times(self) -> NDArray[np.int64]:
        """The timestamps; 0 where there is none."""
        if self.timestamps is None:
            return np.zeros(len(self), np.int64)
        return np.maximum(_numbers(self.timestamps), 0)

    def slice(self, start: int, stop: int) -> "Records":
        """The records from index `start` up to `stop`."""

        def cut(column: Any) -> Any:
            return None if column is None else column[start:stop]

        return replace(
            self,
            values=self.values[start:stop],
            offsets=self.offsets[start:stop],
            keys=cut(self.keys),
            timestamps=cut(self.timestamps),
            headers=cut(self.headers),
        )


def _numbers(found: Sequence[int]) -> NDArray[np.int64]:
    if isinstance(found, range):
        return np.arange(found.start, found.stop, found.step, dtype=np.int64)
    if isinstance(found, Column):
        return found.array.to_numpy()
    return np.asarray(found, np.int64)


@dataclass(frozen=True, slots=True)
class RejectedRecord:
    """A record that gave no updates: its offset, a reason, a message, and its bytes.

    `reason` is one of `connectors.formats.format.REASONS`. `key`, `timestamp` and `headers` are
    what the record had besides, for it to be decoded again.
    """

    offset: int
    reason: str
    message: str
    value: bytes | None
    key: bytes | None = None
    timestamp: int | None = None
    headers: Headers | None = None


@dataclass(frozen=True, slots=True)
class Decoded:
    """Record `offsets[i]` (ascending) changes row `i` of `rows` by `diffs[i]`.

    `rows` has the table's schema. In a table that is not keyed, a diff of 1 adds the row and -1
    takes it away. In a keyed one 1 sets the row of its key, and -1 deletes it: then only the key's
    columns matter, and the others are NULL. A diff of 0 stands for a truncation: all rows go, and
    the row is all NULL. `ts_ms` is the envelopes', or else the records' (0: none).

    `order[i]`, where known, is the position of the change in its database as two numbers that
    never go back within a partition (0, 0: unknown); `missing[i]` the columns whose values the
    record leaves out, so that those of the row before stay (keyed tables only); `transactions[i]`
    the id of the transaction. Each is None where no row has any. `tombstones` and other `ignored`
    records are those that say nothing about rows.
    """

    rows: pa.RecordBatch
    diffs: NDArray[np.int64]
    offsets: NDArray[np.int64]
    ts_ms: NDArray[np.int64]
    order: NDArray[np.uint64] | None
    missing: Sequence[tuple[int, ...]] | None
    transactions: Sequence[str | None] | None
    rejected: tuple[RejectedRecord, ...]
    tombstones: int
    ignored: int


def joined(parts: Sequence[Decoded], schema: pa.Schema) -> Decoded:
    """The same as `parts`, which follow one another, of a table of this schema."""
    if len(parts) == 1:
        return parts[0]
    counts = [len(part.diffs) for part in parts]
    orders = [part.order for part in parts]
    missing = [part.missing for part in parts]
    ids = [part.transactions for part in parts]
    rows = pa.Table.from_batches([part.rows for part in parts], schema).combine_chunks()
    return Decoded(
        rows.to_batches()[0] if len(rows) else parts[0].rows.slice(0, 0),
        np.concatenate([part.diffs for part in parts]),
        np.concatenate([part.offsets for part in parts]),
        np.concatenate([part.ts_ms for part in parts]),
        None
        if all(order is None for order in orders)
        else np.concatenate(
            [
                np.zeros((count, 2), np.uint64) if order is None else order
                for order, count in zip(orders, counts, strict=True)
            ]
        ),
        _chained(missing, counts, ()),
        _chained(ids, counts, None),
        tuple(rejected for part in parts for rejected in part.rejected),
        sum(part.tombstones for part in parts),
        sum(part.ignored for part in parts),
    )


def _chained(lists: Sequence[Sequence[Any] | None], counts: Sequence[int], none: Any) -> Any:
    if all(values is None for values in lists):
        return None
    return [
        value
        for values, count in zip(lists, counts, strict=True)
        for value in (values if values is not None else [none] * count)
    ]
