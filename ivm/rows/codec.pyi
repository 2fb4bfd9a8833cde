from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.rows.interner import Interner

def plain(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """`array` without dictionary or wide offsets, where that is all that differs from `type_`."""

def fitted(batch: pa.RecordBatch, schema: pa.Schema) -> list[pa.Array]:
    """The arrays of `batch`, which must fit `schema` (raises SchemaMismatch)."""

def pack_lists(array: pa.Array, interner: Interner) -> pa.Array:
    """A list array as a binary array, as in `ivm.rows.nested`."""

def pack_structs(array: pa.Array, interner: Interner) -> pa.Array:
    """A struct array as a binary array, as in `ivm.rows.nested`."""

def pack_intervals(array: pa.Array) -> pa.Array:
    """An interval array as a binary array, as in `ivm.rows.intervals`."""

def packed(array: pa.Array, interner: Interner) -> pa.Array:
    """An array as the strings that its values are in rows, where it has such."""

def round_trip(batch: pa.RecordBatch, schema: pa.Schema, interner: Interner) -> pa.RecordBatch:
    """`batch` encoded as rows of `schema` and decoded again."""

def words_of_rows(
    batch: pa.RecordBatch,
    schema: pa.Schema,
    interner: Interner,
    times: NDArray[np.uint64],
    diffs: NDArray[np.int64],
) -> list[list[int]]:
    """Every update's words, as lists: the row's, then its time and diff."""

def words_of_key(values: Sequence[object], schema: pa.Schema, interner: Interner) -> list[int]:
    """The words of one row of Python values."""
