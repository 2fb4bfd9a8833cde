from collections.abc import Iterable, Sequence

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

LAST_TIME: int

def one_time(value: object, last: int = ...) -> int:
    """A time as an integer (raises InvalidTime for what is none, or not from 0 to `last`)."""

def times_of_rows(given: object, rows: int) -> tuple[NDArray[np.uint64] | int, int]:
    """One time for all `rows`, or one for each, as uint64; and the earliest of them.

    Raises InvalidTime, SchemaMismatch. Of no rows the earliest time is the last one.
    """

def diffs_of_rows(given: object, rows: int) -> NDArray[np.int64]:
    """One diff for each of `rows` (raises SchemaMismatch for what int64 does not hold safely)."""

def key_names(name: str, key: Iterable[str]) -> tuple[str, ...]:
    """The names of a key's columns (raises SchemaMismatch for what is not a sequence of names)."""

def key_positions(name: str, schema: pa.Schema, names: Sequence[str]) -> tuple[int, ...]:
    """Where a key's columns lie in `schema` (raises SchemaMismatch for a wrong or repeated one)."""

def unrepeated(name: str, schema: pa.Schema) -> None:
    """Raise SchemaMismatch where two columns have one name, or for what is no schema."""
