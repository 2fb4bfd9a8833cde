"""Rows of Arrow's columns behind those of queues.

A few go to the first queue. Of many each queue gets as many as the others, which a thread of its own
writes: threads have nothing to tell each other, since it does not matter yet which row is where.
"""

from cython.parallel cimport prange
from libc.stdint cimport int64_t, uint64_t

from ivm.rows.columns cimport Column, read_rows
from ivm.rows.layout cimport Layout
from ivm.rows.strings cimport Interner, Strings
from ivm.rows.updates cimport Updates, reserve, update_at

cdef enum:
    FEW_ROWS = 16           # for which the GIL is not given up
    BLOCK_ROWS = 512        # whose columns are read before times and diffs are written, within the cache
    MANY_ROWS = 1 << 12     # from which on several threads write them

# What rows are written from.
cdef struct Given:
    const Column* columns
    int count
    const uint64_t* times
    uint64_t time
    const int64_t* diffs
    int64_t diff


cdef int append_rows(
    const Column* columns, Layout layout, Interner interner, Py_ssize_t n, const uint64_t* times,
    uint64_t time, const int64_t* diffs, int64_t diff, Updates** queues, int count
) except -1:
    cdef Given given = Given(columns, layout.columns, times, time, diffs, diff)
    cdef int failed = 0, i
    if n <= FEW_ROWS:       # fewer than are worth letting other threads run Python meanwhile
        failed = _append(&given, interner.strings, 0, n, queues[0])
    elif n < MANY_ROWS or count == 1:
        with nogil:
            failed = _append(&given, interner.strings, 0, n, queues[0])
    else:
        for i in prange(count, nogil=True, num_threads=count, schedule="static", chunksize=1):
            failed |= _append(&given, interner.strings, i * n // count, (i + 1) * n // count, queues[i])
    if failed != 0:
        raise MemoryError
    return 0


# Appends the rows from `start` to `end`, a block after the other; not 0 where memory is short.
cdef int _append(const Given* given, Strings* strings, Py_ssize_t start, Py_ssize_t end,
                 Updates* out) noexcept nogil:
    cdef Py_ssize_t i, next
    cdef uint64_t* update
    if reserve(out, end - start) < 0:
        return 1
    while start < end:
        next = min(end, start + BLOCK_ROWS)
        update = update_at(out, out.length)
        if read_rows(given.columns, given.count, start, next, update, out.stride, strings) < 0:
            return 1
        out.length += next - start
        for i in range(start, next):
            update[out.row_words] = given.time if given.times == NULL else given.times[i]
            update[out.stride - 1] = <uint64_t> (given.diff if given.diffs == NULL else given.diffs[i])
            update += out.stride
        start = next
    return 0
