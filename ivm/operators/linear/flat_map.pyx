"""FlatMap maps rows to any number of rows by a Python function, called once for each vector of updates.

The function sees rows without their diffs: deterministic and row by row, it answers the retraction of a row
as it answered the row itself, and the diffs are multiplied through. Where it raises, the vector is halved
until the faulty rows are alone; each of them is an error as retractable as the row is, and does not depend on
the rows beside it.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

import numpy as np
import pyarrow as pa

from ivm.operators.errors.evaluate cimport Fallible
from ivm.operators.base.operator cimport Operator, Region, look_at_budget
from ivm.rows.codec cimport decode, encode
from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport NO_STRING, Interner
from ivm.rows.updates cimport Updates, empty_updates, push, release

cdef enum:
    VECTOR = 4096   # rows of one call


cdef class FlatMap(Fallible):
    """Maps each row of `source` to any number of rows by a Python `function`.

    `function` takes rows of layout `given`, and answers rows of `wanted` with the index of the row that each
    comes from.
    """

    cdef Operator source
    cdef object function
    cdef Layout given
    cdef Layout wanted
    cdef Interner interner
    cdef Updates rows       # the answer of one call; its times and diffs mean nothing

    def __init__(self, Region region, int row_words, Operator source, function, Layout given,
                 Layout wanted, Interner interner):
        self.source = source
        self.function = function
        self.given = given
        self.wanted = wanted
        self.interner = interner
        self.rows = empty_updates(row_words, 1)

    def __dealloc__(self):
        release(&self.rows)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t start = 0, n = self.source.out.length
        self.out.length = 0
        while start < n:
            look_at_budget(self.region)
            with gil:
                self._apply(start, min(<Py_ssize_t> VECTOR, n - start))
            start += VECTOR
        return 0

    # Applies the function to the `n` updates from `start` on.
    cdef int _apply(self, Py_ssize_t start, Py_ssize_t n) except -1:
        cdef Updates* given = &self.source.out
        batch = decode(given.words + start * given.stride, n, given.stride, self.given, self.interner)
        try:
            origins = self._call(batch)
        except MemoryError:
            raise
        except Exception as error:
            if n > 1:
                self._apply(start, n // 2)
                self._apply(start + n // 2, n - n // 2)
            else:
                self._fail(start, f"{type(error).__name__}: {error}")
            return 0
        return self._emit(start, origins)

    # Fills `rows` with the function's answer; returns the indices that go with it.
    def _call(self, batch):
        rows, indices = self.function(batch)
        if not isinstance(rows, pa.RecordBatch):
            raise TypeError(f"the function answered {type(rows).__name__}, not a RecordBatch")
        origins = np.asarray(indices)
        if origins.shape != (rows.num_rows,):
            raise ValueError(f"the function answered {rows.num_rows} rows and indices of shape"
                             f" {origins.shape}")
        if rows.num_rows and (origins.dtype.kind not in "iu" or origins.min() < 0
                              or origins.max() >= batch.num_rows):
            raise ValueError(f"the function's indices must be integers from 0 to {batch.num_rows - 1}")
        self.rows.length = 0
        encode(rows, self.wanted, self.interner, NULL, 0, NULL, 1, &self.rows)
        return np.ascontiguousarray(origins, np.int64)

    cdef int _emit(self, Py_ssize_t start, const int64_t[::1] origins) except -1:
        cdef Updates* given = &self.source.out
        cdef Py_ssize_t i
        cdef uint64_t* target
        for i in range(self.rows.length):
            target = push(&self.out)
            if target == NULL:
                raise MemoryError("no memory for a function's rows")
            memcpy(target, self.rows.words + i * self.rows.stride,
                   self.out.row_words * sizeof(uint64_t))
            self._copy_time(start + origins[i], target + self.out.row_words)
        return 0

    cdef int _fail(self, Py_ssize_t at, str message) except -1:
        cdef bytes text = message.encode("utf-8", "replace")
        cdef uint64_t* target = push(&self.errors)
        if target == NULL:
            raise MemoryError("no memory for a function's errors")
        target[0] = self.interner.encode(text, len(text))
        if target[0] == NO_STRING:
            self.errors.length -= 1
            raise MemoryError("no memory for a function's errors")
        self._copy_time(at, target + 1)
        return 0

    # Copies the time and the diff of the input's update `at`.
    cdef void _copy_time(self, Py_ssize_t at, uint64_t* target) noexcept nogil:
        cdef Updates* given = &self.source.out
        memcpy(target, given.words + at * given.stride + given.row_words,
               (given.time_words + 1) * sizeof(uint64_t))
