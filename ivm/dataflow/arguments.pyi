from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

LAST_TIME: int

def one_time(value: object, last: int = ...) -> int:
    """Check a time: an integer from 0 to `last` (raises InvalidTime for any other)."""

def times_of_rows(given: object, rows: int) -> tuple[NDArray[np.uint64] | int, int]:
    """Check times: one for all rows, or integers of shape (rows,); gives uint64 and the earliest.

    Raises InvalidTime, SchemaMismatch. Of no rows the earliest time is the last one.
    """

def diffs_of_rows(given: object, rows: int) -> NDArray[np.int64]:
    """Check diffs: an array of shape (rows,) whose dtype int64 holds (raises SchemaMismatch)."""

def key_names(name: str, key: Iterable[str]) -> tuple[str, ...]:
    """List the names of a key's columns (raises SchemaMismatch for anything but names)."""

def key_positions(name: str, schema: pa.Schema, names: Sequence[str]) -> tuple[int, ...]:
    """Find a key's columns in `schema` (raises SchemaMismatch for a wrong or repeated one)."""

def unrepeated(name: str, schema: pa.Schema) -> None:
    """Check that `schema` is one whose columns differ in name (raises SchemaMismatch)."""
