from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

def owners_of(
    batch: pa.RecordBatch, schema: pa.Schema, key: Iterable[int], members: int
) -> NDArray[np.int64]:
    """Find the process, of `members`, that owns each row by its columns `key`.

    Raises SchemaMismatch for rows that are not of `schema`, and MemoryError.
    """
