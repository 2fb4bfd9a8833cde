"""What callers hand to a pool, refused with a typed error before anything is changed.

Times go from 0 to `LAST_TIME`: readers are told them as signed words.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.errors import InvalidTime, SchemaMismatch

LAST_TIME = 2**63 - 1


def one_time(value: object, last: int = LAST_TIME) -> int:
    """A time as an integer (raises InvalidTime for what is none, or not from 0 to `last`)."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise InvalidTime(f"{value!r} is not a time: times are integers")
    if not 0 <= value <= last:
        raise InvalidTime(f"{value} is not a time: times go from 0 to {last}")
    return int(value)


def times_of_rows(given: object, rows: int) -> tuple[NDArray[np.uint64] | int, int]:
    """One time for all `rows`, or one for each, as uint64; and the earliest of them.

    Raises InvalidTime, SchemaMismatch. Of no rows the earliest time is the last one.
    """
    if not isinstance(given, np.ndarray):
        time = one_time(given)
        return time, time
    if given.dtype.kind not in "iu":
        raise InvalidTime(f"times of type {given.dtype}: times are integers")
    _one_for_each("times", given, rows)
    earliest = one_time(given.min()) if rows else LAST_TIME
    if rows:
        one_time(given.max())
    return np.ascontiguousarray(given, np.uint64), earliest


def diffs_of_rows(given: object, rows: int) -> NDArray[np.int64]:
    """One diff for each of `rows` (raises SchemaMismatch for what int64 does not hold safely)."""
    if not isinstance(given, np.ndarray) or not (
        given.dtype == np.int64 or np.can_cast(given.dtype, np.int64)
    ):
        found = given.dtype if isinstance(given, np.ndarray) else type(given).__name__
        raise SchemaMismatch(f"diffs of type {found}: an array of int64 is needed")
    _one_for_each("diffs", given, rows)
    return np.ascontiguousarray(given, np.int64)


def _one_for_each(what: str, given: NDArray[np.generic], rows: int) -> None:
    if given.shape != (rows,):
        shape = " by ".join(map(str, given.shape))
        raise SchemaMismatch(f"{rows} rows, but {shape} {what}")


def key_positions(name: str, schema: pa.Schema, key: Iterable[str]) -> tuple[int, ...]:
    """Where a key's columns lie in `schema` (raises SchemaMismatch for a wrong or repeated one)."""
    names = list(key)
    for i, column in enumerate(names):
        if schema.get_field_index(column) == -1:
            raise SchemaMismatch(
                f"{name}: the key's column {column!r} is not one of {', '.join(schema.names)}"
            )
        if column in names[:i]:
            raise SchemaMismatch(f"{name}: the key has the column {column!r} twice")
    return tuple(schema.get_field_index(column) for column in names)


def unrepeated(name: str, schema: pa.Schema) -> None:
    """Raise SchemaMismatch where two columns have one name."""
    for column in schema.names:
        if schema.names.count(column) > 1:
            raise SchemaMismatch(f"{name}: two columns are called {column!r}")
