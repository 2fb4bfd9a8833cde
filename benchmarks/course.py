"""What every workload's course is made of: rows of two columns, and outputs to be digested.

What a dataflow put out is drained between rounds, out of the measured time. It is digested once it
is much, or a case is over: the digest's code would else take the place of the engine's in the
core's caches before every round. That of the peers' programs is a few instructions.
"""

import json

import numpy as np
import pyarrow as pa

from benchmarks.digest import Answer
from benchmarks.inputs import Pairs
from ivm.pool import Pool
from ivm.results import Deltas

NUMBER = pa.int64()
KEPT_CHANGES = 1 << 16


def pair(first: str, second: str) -> pa.Schema:
    """Two columns of numbers that are never NULL."""
    return pa.schema([pa.field(name, NUMBER, nullable=False) for name in (first, second)])


def batch(pairs: Pairs, schema: pa.Schema) -> pa.RecordBatch:
    """The rows `pairs` as Arrow data."""
    columns = [pa.array(pairs[:, i].astype(np.int64)) for i in range(len(schema))]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class Outputs:
    """The output of dataflows of rows of numbers; of several, each row behind its place."""

    def __init__(self, pool: Pool, *names: str) -> None:
        self._pool = pool
        self._names = names
        self._answer = Answer()
        self._differences = 0
        self._kept: list[tuple[int, Deltas]] = []
        self._changes = 0  # that are kept

    def drain(self) -> None:
        """Take the changes since the last call."""
        for place, name in enumerate(self._names):
            deltas = self._pool.drain(name)
            self._kept.append((place, deltas))
            self._changes += len(deltas.diffs)
        if self._changes >= KEPT_CHANGES:
            self._digest()

    def _digest(self) -> None:
        for place, deltas in self._kept:
            words = [c.cast(NUMBER).to_numpy().view(np.uint64) for c in deltas.rows.columns]
            if len(self._names) > 1:
                words.insert(0, np.full(len(deltas.diffs), place, np.uint64))
            self._answer.absorb(words, deltas.diffs)
        self._differences += self._changes
        self._kept, self._changes = [], 0

    def report(self, case: str, nanoseconds: list[int]) -> None:
        """Print a case as one line of JSON."""
        self._digest()
        line = {"case": case, "ns": nanoseconds, "rows": self._answer.rows}
        line |= {"sum": self._answer.sum, "differences": self._differences}
        print(json.dumps(line), flush=True)
        self._differences = 0
