"""A view's state as one number, kept up to date by its deltas.

`digest(state) = sum of count * hash(row)` over its rows, modulo 2^64. It is a sum, so neither the
order of deltas matters nor how they are grouped: a state that was restored at once and one that
grew delta by delta have the same digest. It guards against an engine that replays something else
than it published, not against someone who looks for a collision.
"""

import numpy as np
import orjson
import pyarrow as pa
from numpy.typing import NDArray

from connectors.columns.buffers import contents
from connectors.sinks.json_rows import json_values
from connectors.sinks.sink import Changes

Hashes = NDArray[np.uint64]

_ODD = np.uint64(0x9E3779B97F4A7C15)
_MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))
_SHIFTS = (np.uint64(30), np.uint64(27), np.uint64(31))
_NULL = np.uint64(0x6A09E667F3BCC909)
_ERROR = np.uint64(0xBB67AE8584CAA73B)
# Rows hashed together: what is kept for their bytes should stay in the processor's cache.
_ROWS = 4096


def weight(changes: Changes) -> int:
    """The sum that `changes` add to the digest of their view."""
    return (
        _weighed(row_hashes(changes.rows), changes.diffs)
        + _weighed(row_hashes(changes.errors) ^ _ERROR, changes.error_diffs)
    ) % 2**64


def row_hashes(batch: pa.RecordBatch) -> Hashes:
    """A hash of every row, the same in every process; position of columns counts, names do not."""
    parts = [_hashes(batch.slice(start, _ROWS)) for start in range(0, batch.num_rows, _ROWS)]
    return np.concatenate(parts) if parts else np.empty(0, np.uint64)


def _weighed(hashes: Hashes, diffs: NDArray[np.int64]) -> int:
    return int((hashes * diffs.view(np.uint64)).sum(dtype=np.uint64))


def _hashes(batch: pa.RecordBatch) -> Hashes:
    found = np.full(batch.num_rows, _ODD, np.uint64)
    for column in batch.columns:
        found = _mixed(found * _ODD + _column(column))
    return found


def _column(column: pa.Array) -> Hashes:
    if isinstance(column, pa.ExtensionArray):
        column = column.storage
    dtype = column.type
    if pa.types.is_boolean(dtype):
        column = column.cast(pa.uint8())
    elif pa.types.is_list(dtype):
        texts = [None if v is None else orjson.dumps(v) for v in json_values(column)]
        column = pa.array(texts, pa.binary())
    if pa.types.is_string(column.type) or pa.types.is_binary(column.type):
        hashes = _bytes(column)
    else:
        hashes = _fixed(column)
    if column.null_count:
        hashes = np.where(column.is_valid().to_numpy(zero_copy_only=False), hashes, _NULL)
    return hashes


def _fixed(column: pa.Array) -> Hashes:
    """Values of one width; the value under a NULL is arbitrary."""
    width = column.type.bit_width // 8
    data = contents(column, 1, np.uint8)
    cells = data[column.offset * width : (column.offset + len(column)) * width]
    words = np.zeros((len(column), -(-width // 8) * 8), np.uint8)
    words[:, :width] = cells.reshape(len(column), width)
    hashes = np.zeros(len(column), np.uint64)
    for word in words.view(np.uint64).T:
        hashes = _mixed(hashes + word)
    return hashes


def _bytes(column: pa.Array) -> Hashes:
    """Each byte of a value, spread by a table, times an odd power by its place; then the length."""
    offsets = contents(column, 1, np.int32)
    ends = offsets[column.offset : column.offset + len(column) + 1].astype(np.int64)
    if len(ends) == 0:
        ends = np.zeros(len(column) + 1, np.int64)
    lengths = np.diff(ends)
    data = contents(column, 2, np.uint8)[ends[0] : ends[-1]]
    starts = ends[:-1] - ends[0]
    places = np.arange(len(data)) - np.repeat(starts, lengths)
    terms = _SPREAD[data] * _powers(int(lengths.max(initial=0)))[places]
    sums = np.concatenate((np.zeros(1, np.uint64), np.cumsum(terms, dtype=np.uint64)))
    hashes = sums[starts + lengths] - sums[starts]
    return _mixed(hashes + lengths.astype(np.uint64))


def _powers(count: int) -> Hashes:
    powers = np.full(count, _ODD, np.uint64)
    return np.multiply.accumulate(powers) if count else powers


def _mixed(hashes: Hashes) -> Hashes:
    """The finaliser of SplitMix64."""
    hashes = (hashes ^ (hashes >> _SHIFTS[0])) * _MIX[0]
    hashes = (hashes ^ (hashes >> _SHIFTS[1])) * _MIX[1]
    return hashes ^ (hashes >> _SHIFTS[2])


_SPREAD = _mixed(np.arange(1, 257, dtype=np.uint64) * _ODD)
