"""Arguments of a pool are checked before any change, with a typed error for a wrong one.

Times go from 0 to `LAST_TIME`: readers get them as signed words. Compiled, since some checks run
for each update.
"""

from collections.abc import Iterable

import numpy as np
import pyarrow as pa

from ivm.errors import InvalidTime, SchemaMismatch

LAST_TIME = 2**63 - 1

cdef object INT64 = np.dtype(np.int64)


def one_time(value, last=LAST_TIME):
    """Check a time: an integer from 0 to `last` (raises InvalidTime for any other)."""
    if type(value) is not int and (
            not isinstance(value, int | np.integer) or isinstance(value, bool)):
        raise InvalidTime(f"{value!r} is not a time: times are integers")
    if not 0 <= value <= last:
        raise InvalidTime(f"{value} is not a time: times go from 0 to {last}")
    return int(value)


def times_of_rows(given, Py_ssize_t rows):
    """Check times: one for all rows, or integers of shape (rows,); gives uint64 and the earliest.

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


def diffs_of_rows(given, Py_ssize_t rows):
    """Check diffs: an array of shape (rows,) whose dtype int64 holds (raises SchemaMismatch)."""
    if type(given) is np.ndarray and given.dtype is INT64 and given.shape == (rows,) and (
            given.flags.c_contiguous):
        return given
    if not isinstance(given, np.ndarray) or not (
        given.dtype == np.int64 or np.can_cast(given.dtype, np.int64)
    ):
        found = given.dtype if isinstance(given, np.ndarray) else type(given).__name__
        raise SchemaMismatch(f"diffs of type {found}: an array of int64 is needed")
    _one_for_each("diffs", given, rows)
    return np.ascontiguousarray(given, np.int64)


cdef int _one_for_each(str what, given, Py_ssize_t rows) except -1:
    if given.shape != (rows,):
        shape = " by ".join(map(str, given.shape))
        raise SchemaMismatch(f"{rows} rows, but {shape} {what}")
    return 0


def key_names(name, key):
    """List the names of a key's columns (raises SchemaMismatch for anything but names)."""
    if not isinstance(key, (list, tuple, Iterable)):    # the first two are quickly told
        raise SchemaMismatch(f"{name}: {key!r} is no key: keys are names of columns")
    names = tuple(key)
    for column in names:
        if not isinstance(column, str):
            raise SchemaMismatch(f"{name}: the key's column {column!r} is not a name")
    return names


def key_positions(name, schema, names):
    """Find a key's columns in `schema` (raises SchemaMismatch for a wrong or repeated one)."""
    for i, column in enumerate(names):
        if schema.get_field_index(column) == -1:
            raise SchemaMismatch(
                f"{name}: the key's column {column!r} is not one of {', '.join(schema.names)}"
            )
        if column in names[:i]:
            raise SchemaMismatch(f"{name}: the key has the column {column!r} twice")
    return tuple([schema.get_field_index(column) for column in names])


def unrepeated(name, schema):
    """Check that `schema` is one whose columns differ in name (raises SchemaMismatch)."""
    if not isinstance(schema, pa.Schema):
        raise SchemaMismatch(f"{name}: columns are given as a Schema, not a {type(schema).__name__}")
    names = schema.names
    for column in names:
        if names.count(column) > 1:
            raise SchemaMismatch(f"{name}: two columns are called {column!r}")
