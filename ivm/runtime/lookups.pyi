import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.trace.spine import Trace

def look_up(
    trace: Trace,
    packing: Packing,
    layout: Layout,
    interner: Interner,
    keys: pa.RecordBatch,
    key: Layout,
) -> tuple[
    pa.RecordBatch, NDArray[np.int64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]
]:
    """The published rows with each key: rows, counts, owners, order, starts (`ivm.results.Found`).

    Raises SchemaMismatch.
    """
