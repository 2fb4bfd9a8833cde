from collections.abc import Iterator

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.trace.spine import Trace

class SealedBatch:
    """One batch of a collection: its rows, each with what its diffs add up to over all times.

    While it is there no string of the pool is released: drop it soon.
    """

    @property
    def serial(self) -> int:
        """The batch's identity: never given again in this process."""

    @property
    def values(self) -> int:
        """How many distinct rows it holds, those included whose diffs add up to nothing."""

    def rows(self, at_once: int) -> Iterator[tuple[pa.RecordBatch, NDArray[np.int64]]]:
        """The rows as pairs of a RecordBatch and its diffs, at most `at_once` rows in each."""

def sealed(trace: Trace, packing: Packing, layout: Layout, interner: Interner) -> list[SealedBatch]:
    """Every published batch of `trace`: a row's diffs over all of them add up to its count."""
