from collections.abc import Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.rows.interner import Interner

def plain(array: pa.Array, type_: pa.DataType) -> pa.Array:
    """Drop a dictionary or wide offsets from `array`, if only these differ from `type_`."""

def fitted(batch: pa.RecordBatch, schema: pa.Schema) -> list[pa.Array]:
    """Check that `batch` fits `schema` and give its arrays (raises SchemaMismatch)."""

def pack_lists(array: pa.Array, interner: Interner) -> pa.Array:
    """Pack a list array as a binary array, as in `ivm.rows.nested`."""

def pack_structs(array: pa.Array, interner: Interner) -> pa.Array:
    """Pack a struct array as a binary array, as in `ivm.rows.nested`."""

def pack_intervals(array: pa.Array) -> pa.Array:
    """Pack an interval array as a binary array, as in `ivm.rows.intervals`."""

def packed(array: pa.Array, interner: Interner) -> pa.Array:
    """Pack an array of lists, structs or intervals as the strings that rows hold; others stay."""

def round_trip(batch: pa.RecordBatch, schema: pa.Schema, interner: Interner) -> pa.RecordBatch:
    """Encode `batch` as rows of `schema`, and decode them again."""

def words_of_rows(
    batch: pa.RecordBatch,
    schema: pa.Schema,
    interner: Interner,
    times: NDArray[np.uint64],
    diffs: NDArray[np.int64],
) -> list[list[int]]:
    """List every update's words: the row's, then its time and diff."""

def words_of_key(values: Sequence[object], schema: pa.Schema, interner: Interner) -> list[int]:
    """List the words of one row of Python values."""
