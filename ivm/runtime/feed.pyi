import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.operators.arranging.input import Input
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout

class Intake:
    """Queues rows of `layout` at `inputs`, the operators of all shards."""

    def __init__(self, inputs: tuple[Input, ...], layout: Layout, interner: Interner) -> None: ...
    @property
    def inputs(self) -> tuple[Input, ...]: ...
    def feed(
        self, batch: pa.RecordBatch, times: NDArray[np.uint64] | int, diffs: NDArray[np.int64]
    ) -> None:
        """Queue the rows of a RecordBatch; `times` is an integer or one for each row.

        Raises SchemaMismatch, MemoryError; then nothing is queued.
        """
