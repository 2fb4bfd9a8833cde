"""Sealed batches: the batches of an arrangement, handed out as they are, to be written beside the steps.

A batch never changes, so that one reference to it is all that a reader needs: its rows can be
decoded by any thread while the pool goes on and merges the batch away. Its serial number is its
identity: the same as long as the batch lives, and never given again in this process.
"""

cimport cython
from libc.stdint cimport int64_t, uint64_t

import numpy as np

from ivm.rows.codec cimport decode
from ivm.rows.layout cimport Layout
from ivm.rows.packing cimport Packing, pack
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates, empty_updates, push, release
from ivm.runtime.readers cimport refuse_overflow
from ivm.threads.team cimport watch_overflow
from ivm.trace.batch cimport (
    Batch, diff_of, drop, find_key, first_update, first_val, key_at, retain, val_at,
)
from ivm.trace.counts cimport sum_of
from ivm.trace.spine cimport Trace

cdef uint64_t last_serial = 0


@cython.no_gc_clear     # the interner is told that the batch is gone
cdef class SealedBatch:
    """One batch of a collection: its rows, each with the sum of its diffs over all times.

    While it is there no string of the pool is released: drop it soon.
    """

    cdef Batch* batch
    cdef Packing packing        # from (key, value) to a row of `layout`
    cdef Layout layout
    cdef Interner interner

    def __dealloc__(self):
        drop(self.batch)
        if self.batch != NULL:
            self.interner.close_snapshot()

    @property
    def serial(self) -> int:
        """The batch's identity."""
        return self.batch.serial

    @property
    def values(self) -> int:
        """The number of distinct rows that it holds, those included whose diffs add up to nothing."""
        return self.batch.vals

    def rows(self, Py_ssize_t at_once):
        """The rows as pairs of a RecordBatch and its diffs, at most `at_once` rows in each."""
        cdef Py_ssize_t start
        for start in range(0, self.batch.vals, at_once):
            yield self._decoded(start, min(start + at_once, self.batch.vals))

    def _decoded(self, Py_ssize_t start, Py_ssize_t end):
        cdef Updates rows = empty_updates(self.layout.words, 0)
        cdef int64_t[::1] counts
        cdef Py_ssize_t i
        cdef int failed, overflowed = 0
        cdef int* before = watch_overflow(&overflowed)
        try:
            with nogil:
                failed = read_values(self.batch, start, end, self.packing, &rows)
            if failed != 0:
                raise MemoryError("no memory to read a batch")
            refuse_overflow(overflowed)
            diffs = np.empty(rows.length, np.int64)
            counts = diffs
            for i in range(rows.length):
                counts[i] = <int64_t> rows.words[i * rows.stride + rows.stride - 1]
            return decode(rows.words, rows.length, rows.stride, self.layout, self.interner), diffs
        finally:
            watch_overflow(before)
            release(&rows)


def sealed(Trace trace, Packing packing, Layout layout, Interner interner) -> list:
    """Every published batch of `trace`: a row's diffs over all of them add up to its count.

    `packing` makes a row of `layout` from (key, value).
    """
    global last_serial
    cdef Batch* b
    cdef SealedBatch one
    found = []
    for b in trace.published:
        if b.serial == 0:           # nobody else reads or writes it, and we hold the GIL
            last_serial += 1
            b.serial = last_serial
        one = SealedBatch()
        one.packing = packing
        one.layout = layout
        one.interner = interner
        interner.open_snapshot()
        retain(b)
        one.batch = b
        found.append(one)
    return found


# Appends the values [start, end) of the batch as rows with the sums of their diffs; none that is 0.
cdef int read_values(const Batch* b, Py_ssize_t start, Py_ssize_t end, Packing packing,
                     Updates* rows) noexcept nogil:
    cdef Py_ssize_t k = find_key(b, start), v, u
    cdef int64_t count
    cdef uint64_t* row
    for v in range(start, end):
        while first_val(b, k + 1) <= v:
            k += 1
        count = 0
        for u in range(first_update(b, v), first_update(b, v + 1)):
            count = sum_of(count, diff_of(b, u))
        if count == 0:
            continue
        row = push(rows)
        if row == NULL:
            return -1
        pack(packing, key_at(b, k), val_at(b, v), NULL, row)
        row[rows.stride - 1] = <uint64_t> count
    return 0
