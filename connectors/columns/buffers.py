"""Arrow's buffers as NumPy's arrays, and back."""

from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def contents(column: pa.Array, buffer: int, dtype: Any) -> NDArray[Any]:
    """A buffer of `column`, whole: where the column begins in it is the column's to say."""
    found: Any = column.buffers()[buffer]
    return np.frombuffer(found if found is not None else b"", dtype)


def binaries(ends: NDArray[np.int64], data: NDArray[Any] | pa.Buffer) -> pa.Array:
    """Large binaries, the i-th being `data[ends[i]:ends[i + 1]]`."""
    count = len(ends) - 1
    whole: Any = data if isinstance(data, pa.Buffer) else np.ascontiguousarray(data)
    bounds: Any = np.ascontiguousarray(ends)
    buffers = [None, pa.py_buffer(bounds), pa.py_buffer(whole)]
    found: pa.Array = pa.Array.from_buffers(pa.large_binary(), count, buffers)
    return found


def picked(positions: NDArray[np.int64]) -> Any:
    """Positions to take, of which negative ones are NULL."""
    return pa.array(positions, pa.int64(), mask=positions < 0)
