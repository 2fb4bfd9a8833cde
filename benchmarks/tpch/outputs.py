"""What a query has put out, digested; the same as in the peer's program.

Each column is a word: an integer, a day or the digits of a decimal as they are, a string by its
FNV-1a hash. Averages and quotients are left out, since only ours have a decimal of fixed scale.
"""

import json

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from benchmarks.digest import Answer, Words
from ivm.pool import Pool

QUOTIENTS = frozenset(
    {"avg_qty", "avg_price", "avg_disc", "mkt_share", "promo_revenue", "avg_yearly"}
)
NULL = np.uint64(2**64 - 1)


class Outputs:
    """What the dataflow `name` has put out."""

    def __init__(self, pool: Pool, name: str) -> None:
        self._pool = pool
        self._name = name
        self._answer = Answer()
        self._differences = 0

    def drain(self) -> None:
        """Take the changes since the last call."""
        deltas = self._pool.drain(self._name)
        words = [
            words_of(column)
            for name, column in zip(deltas.rows.schema.names, deltas.rows.columns, strict=True)
            if name not in QUOTIENTS
        ]
        self._answer.absorb(words or [np.zeros(len(deltas.diffs), np.uint64)], deltas.diffs)
        self._differences += len(deltas.diffs)

    def report(self, case: str, nanoseconds: list[int], tuples: int) -> None:
        """Print a case, in which `tuples` rows were fed, as one line of JSON."""
        line = {"case": case, "ns": nanoseconds, "rows": self._answer.rows}
        line |= {"sum": self._answer.sum, "differences": self._differences, "tuples": tuples}
        print(json.dumps(line), flush=True)


def words_of(column: pa.Array) -> Words:
    """One word for each value."""
    if column.null_count:
        words = words_of(column.drop_null())
        found = np.full(len(column), NULL)
        found[pc.is_valid(column).to_numpy(zero_copy_only=False)] = words
        return found
    if pa.types.is_string(column.type):
        named = column.dictionary_encode()
        hashes: Words = np.array([fnv(str(text)) for text in named.dictionary], np.uint64)
        mapped: Words = hashes[named.indices.to_numpy()]
        return mapped
    if pa.types.is_decimal128(column.type):
        _, digits = column.buffers()
        assert digits is not None
        halves: Words = np.frombuffer(memoryview(digits), np.uint64)
        return halves[2 * column.offset : 2 * (column.offset + len(column)) : 2]
    numbers = column.cast(pa.int32()) if pa.types.is_date32(column.type) else column
    return numbers.to_numpy().astype(np.int64).view(np.uint64)


def fnv(text: str) -> int:
    """The FNV-1a hash of a text's UTF-8, of 64 bits."""
    state = 0xCBF29CE484222325
    for byte in text.encode():
        state = (state ^ byte) * 0x100000001B3 % 2**64
    return state
