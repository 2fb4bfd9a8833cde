"""Turns upserts into exact updates: for each key and time (old row, -1) and (new row, +1).

In a keyed table a change sets the row of its primary key or deletes it, whatever stood there. The
row that stood there as of the last completed time is looked up, all keys of a batch at once; what
the batch itself has put there since is known. So, for each key and each time with a change of it,
the updates are: what stood there is taken back, and what the last change of that time sets is
added. Where both are the same they cancel in the engine, which adds up the diffs of a row and time.

Changes happen in the order of their times, and at one time in that of arrival. Hence any way to cut
the records of a partition into batches gives the same table: a batch goes on from the row that the
last one left.

A truncation is a delete of every key that may be there: those of the table and of the batch so far.

A record may leave values out (`missing`): they are those of the row before. Such a record needs a
row before; one without is *unavailable*, and changes nothing. It leaves no row either, so all that
follow it are unavailable, until one says everything.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ivm.results import Found, Snapshot

Times = NDArray[np.uint64]
Indices = NDArray[np.int64]


class Prior(Protocol):
    """The tables as of the last completed time; `ivm.pool.Pool` is one."""

    def look_up(self, name: str, keys: pa.RecordBatch) -> Found:
        """The rows with each of `keys`."""

    def scan(self, name: str) -> Snapshot:
        """All rows."""


@dataclass(frozen=True, slots=True)
class Changes:
    """Row `i` of `rows` is set (`diffs[i]` is 1), or deleted by its key (-1), at `times[i]`.

    0 stands for a truncation. They are in the order of arrival. `missing[i]` has the columns of the
    row, by their index, whose values the record left out (None: no row has any).
    """

    rows: pa.RecordBatch
    diffs: NDArray[np.int64]
    times: Times
    missing: pa.Array | None = None

    def chosen(self, kept: Indices) -> "Changes":
        """Those at these positions."""
        missing = None if self.missing is None else self.missing.take(kept)
        rows = self.rows.take(kept)
        return Changes(rows, self.diffs[kept], self.times[kept], missing)

    @classmethod
    def joined(cls, parts: Sequence["Changes"]) -> "Changes":
        """All of `parts` (at least one), in their order."""
        if len(parts) == 1:
            return parts[0]
        some = any(part.missing is not None for part in parts)
        missing = [_missing(part) for part in parts] if some else []
        return cls(
            joined_rows([part.rows for part in parts]),
            np.concatenate([part.diffs for part in parts]),
            np.concatenate([part.times for part in parts]),
            pa.concat_arrays(missing) if some else None,
        )


@dataclass(frozen=True, slots=True)
class Exact:
    """Row `i` of `rows` changes by `diffs[i]` copies at `times[i]`."""

    rows: pa.RecordBatch
    diffs: NDArray[np.int64]
    times: Times


@dataclass(frozen=True, slots=True)
class Folded:
    """Exact updates, the number of deletes that found no row, and the unavailable changes."""

    updates: tuple[Exact, ...]
    absent: int
    unavailable: Indices


@dataclass(frozen=True, slots=True)
class _Events:
    """Sets (kind 1) and deletes (-1) of keys, in their order.

    Event `i` is change `changes[i]`, or -1: a delete by a truncation.
    """

    keys: pa.RecordBatch
    kinds: NDArray[np.int64]
    times: Times
    changes: Indices


@dataclass(frozen=True, slots=True)
class _Grouped:
    """Events sorted by key, each key's in their order.

    Event `i` is of key `groups[i]`; key `g`'s begin at `starts[g]`, and `present[g]` says whether
    it has a row as of the last completed time.
    """

    kinds: NDArray[np.int64]
    times: Times
    changes: Indices
    groups: Indices
    starts: Indices
    present: NDArray[np.bool_]

    def first(self) -> NDArray[np.bool_]:
        """A mask of the events that are the first of their key."""
        first: NDArray[np.bool_] = np.diff(self.groups, prepend=-1) != 0
        return first

    def without(self, gone: NDArray[np.bool_]) -> "_Grouped":
        """All events but these."""
        groups = self.groups[~gone]
        return _Grouped(
            self.kinds[~gone],
            self.times[~gone],
            self.changes[~gone],
            groups,
            np.searchsorted(groups, np.arange(len(self.present) + 1)),
            self.present,
        )


def fold(table: str, key: tuple[str, ...], changes: Changes, prior: Prior) -> Folded:
    """The exact updates that `changes` make to the rows of `table`, whose primary key is `key`."""
    if np.any(changes.times[1:] < changes.times[:-1]):
        arrived = np.argsort(changes.times, kind="stable")
        folded = fold(table, key, changes.chosen(arrived), prior)
        return replace(folded, unavailable=arrived[folded.unavailable])
    events = _events(table, key, changes, prior)
    found = prior.look_up(table, events.keys)
    grouped = _grouped(events, found)
    unavailable = np.zeros(0, np.int64)
    if changes.missing is not None:
        left_out = _left_out(changes)
        failed = _unavailable(grouped, left_out)
        unavailable = np.sort(grouped.changes[failed])
        grouped = grouped.without(failed)
        changes = replace(changes, rows=_completed(changes, grouped, left_out, found))
    return Folded(_updates(grouped, changes, found), _absent(grouped), unavailable)


def emptied(table: str, changes: Changes, prior: Prior) -> tuple[Exact, ...]:
    """The exact updates of `changes` of a table that is not keyed, with truncations among them.

    Each truncation takes back the rows from before the changes, and the changes before it.
    """
    snapshot = prior.scan(table)
    there = Exact(snapshot.rows, -snapshot.counts, changes.times[:0])
    parts, begin, count = [], 0, len(changes.diffs)
    for end in [*np.flatnonzero(changes.diffs == 0).tolist(), count]:
        rows, diffs = changes.rows.slice(begin, end - begin), changes.diffs[begin:end]
        parts.append(Exact(rows, diffs, changes.times[begin:end]))
        if end < count:
            for gone in (there, Exact(rows, -diffs, changes.times[:0])):
                times = np.full(len(gone.diffs), changes.times[end], np.uint64)
                parts.append(replace(gone, times=times))
            there = Exact(snapshot.rows.slice(0, 0), snapshot.counts[:0], changes.times[:0])
        begin = end + 1
    return tuple(part for part in parts if len(part.diffs))


def _events(table: str, key: tuple[str, ...], changes: Changes, prior: Prior) -> _Events:
    keys = changes.rows.select(key)
    count = len(changes.diffs)
    truncations = np.flatnonzero(changes.diffs == 0).tolist()
    events = _Events(keys, changes.diffs, changes.times, np.arange(count))
    if not truncations:
        return events
    parts = []
    there = prior.scan(table).rows.select(key)
    begin = 0
    for at in truncations:
        before = _slice(events, begin, at)
        parts += [
            before,
            _deletes(there, changes.times[at]),
            _deletes(before.keys, changes.times[at]),
        ]
        there = there.slice(0, 0)
        begin = at + 1
    parts.append(_slice(events, begin, count))
    return _Events(
        joined_rows([part.keys for part in parts]),
        np.concatenate([part.kinds for part in parts]),
        np.concatenate([part.times for part in parts]),
        np.concatenate([part.changes for part in parts]),
    )


def _missing(changes: Changes) -> pa.Array:
    if changes.missing is not None:
        return changes.missing
    return pa.nulls(len(changes.diffs), pa.list_(pa.int16()))


def joined_rows(batches: Sequence[pa.RecordBatch]) -> pa.RecordBatch:
    """The rows of all of `batches` (at least one), in their order."""
    table = pa.Table.from_batches(batches).combine_chunks()
    return next(iter(table.to_batches()), batches[0])


def _slice(events: _Events, begin: int, end: int) -> _Events:
    cut = slice(begin, end)
    keys = events.keys.slice(begin, end - begin)
    return _Events(keys, events.kinds[cut], events.times[cut], events.changes[cut])


def _deletes(keys: pa.RecordBatch, time: np.uint64) -> _Events:
    """A truncation at `time`, for these keys."""
    nobody = np.full(keys.num_rows, -1, np.int64)
    return _Events(keys, nobody, np.full(keys.num_rows, time, np.uint64), nobody)


def _grouped(events: _Events, found: Found) -> _Grouped:
    order, starts = found.order, found.starts
    present = np.zeros(len(starts) - 1, np.bool_)
    present[found.owners[found.counts > 0]] = True
    return _Grouped(
        events.kinds[order],
        events.times[order],
        events.changes[order],
        np.repeat(np.arange(len(present)), np.diff(starts)),
        starts,
        present,
    )


def _absent(grouped: _Grouped) -> int:
    """The number of deletes that found no row; a truncation's do not count."""
    before = np.roll(grouped.kinds, 1) == 1
    first = grouped.first()
    before[first] = grouped.present[grouped.groups[first]]
    return int(np.count_nonzero((grouped.kinds == -1) & ~before & (grouped.changes >= 0)))


def _updates(grouped: _Grouped, changes: Changes, found: Found) -> tuple[Exact, ...]:
    """The rows before that are taken back, and those that are added or taken back since."""
    groups, times = grouped.groups, grouped.times
    ends = np.flatnonzero(
        np.append((np.diff(groups) != 0) | (np.diff(times) != 0), True)[: len(groups)]
    )
    groups, times = groups[ends], times[ends]
    sets, rows = grouped.kinds[ends] == 1, grouped.changes[ends]
    first = np.diff(groups, prepend=-1) != 0
    left_at = np.zeros(len(grouped.present), np.uint64)
    left_at[groups[first]] = times[first]
    touched = np.zeros(len(grouped.present), np.bool_)
    touched[groups] = True
    replaced = np.flatnonzero(~first[1:] & sets[:-1])
    parts = (
        _chosen(found.rows, touched[found.owners], -found.counts, left_at[found.owners]),
        _taken(changes.rows, rows[replaced], -1, times[replaced + 1]),
        _added(changes, rows[sets]),
    )
    return tuple(part for part in parts if len(part.diffs))


def _chosen(
    rows: pa.RecordBatch, which: NDArray[np.bool_], diffs: NDArray[np.int64], times: Times
) -> Exact:
    if not which.all():
        rows, diffs, times = rows.filter(pa.array(which)), diffs[which], times[which]
    return Exact(rows, diffs, times)


def _taken(rows: pa.RecordBatch, indices: Indices, diff: int, times: Times) -> Exact:
    taken = rows.take(indices) if len(indices) else rows.slice(0, 0)
    return Exact(taken, np.full(len(indices), diff, np.int64), times)


def _added(changes: Changes, indices: Indices) -> Exact:
    """The rows of these changes, each at its time; in their order, which copies the least."""
    which = np.zeros(len(changes.diffs), np.bool_)
    which[indices] = True
    return _chosen(changes.rows, which, changes.diffs, changes.times)


def _left_out(changes: Changes) -> dict[int, NDArray[np.bool_]]:
    """For each column that any change leaves out, a mask of those changes."""
    assert changes.missing is not None
    count = len(changes.diffs)
    owners = np.repeat(
        np.arange(count), pc.list_value_length(changes.missing).fill_null(0).to_numpy()
    )
    columns = pc.list_flatten(changes.missing).to_numpy()
    left_out = {}
    for column in np.unique(columns).tolist():
        left_out[column] = np.zeros(count, np.bool_)
        left_out[column][owners[columns == column]] = True
    return left_out


def _lacking(grouped: _Grouped, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """A mask of the events whose changes `which` names."""
    return np.where(grouped.changes >= 0, which[grouped.changes], False)


def _latest(grouped: _Grouped, which: NDArray[np.bool_]) -> Indices:
    """For each event the last one of its key, up to itself, that `which` names; or -1."""
    at = np.maximum.accumulate(np.where(which, np.arange(len(which)), -1))
    return np.where(at >= grouped.starts[grouped.groups], at, -1)


def _unavailable(grouped: _Grouped, left_out: dict[int, NDArray[np.bool_]]) -> NDArray[np.bool_]:
    """A mask of the events that leave values out where no row was before."""
    partial = np.zeros(len(grouped.kinds), np.bool_)
    for which in left_out.values():
        partial |= _lacking(grouped, which)
    whole = _latest(grouped, ~partial)
    there = np.where(whole >= 0, grouped.kinds[whole] == 1, grouped.present[grouped.groups])
    return partial & ~there


def _completed(
    changes: Changes, grouped: _Grouped, left_out: dict[int, NDArray[np.bool_]], found: Found
) -> pa.RecordBatch:
    """The changes' rows; a value that one leaves out comes from the row before it."""
    count = len(changes.diffs)
    before = np.zeros(len(grouped.present), np.int64)
    there = found.counts > 0
    before[found.owners[there]] = count + np.flatnonzero(there)
    columns = changes.rows.columns
    for column, which in left_out.items():
        lacking = _lacking(grouped, which)
        origin = _latest(grouped, ~lacking)
        source = np.where(origin >= 0, grouped.changes[origin], before[grouped.groups])
        indices = np.arange(count)
        indices[grouped.changes[lacking]] = source[lacking]
        pair = pa.chunked_array([columns[column], found.rows.column(column)])
        columns[column] = pair.take(indices).combine_chunks()
    return pa.RecordBatch.from_arrays(columns, schema=changes.rows.schema)
