"""What every workload's course is made of: rows of two columns, and outputs to be digested.

What a dataflow put out is drained and digested between rounds, out of the measured time.
"""

import json

import numpy as np
import pyarrow as pa

from benchmarks.digest import Answer
from benchmarks.inputs import Pairs
from ivm.pool import Pool

NUMBER = pa.int64()


def pair(first: str, second: str) -> pa.Schema:
    """Two columns of numbers that are never NULL."""
    return pa.schema([pa.field(name, NUMBER, nullable=False) for name in (first, second)])


def batch(pairs: Pairs, schema: pa.Schema) -> pa.RecordBatch:
    """The rows `pairs` as Arrow data."""
    columns = [pa.array(pairs[:, i].astype(np.int64)) for i in range(len(schema))]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


class Outputs:
    """What the dataflow `name`, of rows of two numbers, has put out."""

    def __init__(self, pool: Pool, name: str) -> None:
        self._pool = pool
        self._name = name
        self._answer = Answer()
        self._differences = 0

    def drain(self) -> None:
        """Take the changes since the last call."""
        deltas = self._pool.drain(self._name)
        words = [c.to_numpy().view(np.uint64) for c in deltas.rows.columns]
        self._answer.absorb(words, deltas.diffs)
        self._differences += len(deltas.diffs)

    def report(self, case: str, nanoseconds: list[int]) -> None:
        """Print a case as one line of JSON."""
        line = {"case": case, "ns": nanoseconds, "rows": self._answer.rows}
        line |= {"sum": self._answer.sum, "differences": self._differences}
        print(json.dumps(line), flush=True)
        self._differences = 0
