"""The queue writer appends rows of Arrow columns to the queues of an input.

A few rows go to the first queue. Many are split evenly, and a thread for each queue writes its share: the
threads need not communicate, since rows are sharded only later.
"""

from libc.stdint cimport int64_t, uint64_t

from ivm.rows.columns cimport Column, read_rows
from ivm.rows.layout cimport STRING, Layout
from ivm.rows.interner cimport Interner, Strings
from ivm.rows.updates cimport Updates, is_bare, reserve, update_at
from ivm.threads.team cimport share_work

cdef enum:
    FEW_ROWS = 16           # for which the GIL is not given up
    BLOCK_ROWS = 512        # whose columns are read before times and diffs are written, within the cache
    MANY_NUMBERS = 1 << 18  # in all columns, from which on several threads write them
    TEXT = 64               # numbers, which are written while one text is interned

# The source columns of rows, and the target queues.
cdef struct Appending:
    const Column* columns
    int count
    Strings* strings
    Py_ssize_t rows
    const uint64_t* times
    uint64_t time
    const int64_t* diffs
    int64_t diff
    Updates** queues
    int shares          # one for each queue


cdef int append_rows(
    const Column* columns, Layout layout, Interner interner, Py_ssize_t n, const uint64_t* times,
    uint64_t time, const int64_t* diffs, int64_t diff, Updates** queues, int count
) except -1:
    cdef Appending all = Appending(
        columns, layout.columns, interner.strings, n, times, time, diffs, diff, queues, 1)
    if n <= FEW_ROWS:       # fewer than are worth letting other threads run Python meanwhile
        append_share(&all, 0)
        return 0
    if n * numbers_in_row(columns, layout.columns) >= MANY_NUMBERS:
        all.shares = count
    with nogil:
        share_work(append_share, &all, all.shares, count)
    return 0


# Counts the numbers that are written for a row.
cdef Py_ssize_t numbers_in_row(const Column* columns, int count) noexcept nogil:
    cdef Py_ssize_t numbers = 0
    cdef int c
    for c in range(count):
        numbers += TEXT if columns[c].slot.kind == STRING else 1
    return numbers


cdef int append_share(void* context, Py_ssize_t i) except -1 nogil:
    cdef const Appending* all = <const Appending*> context
    cdef Py_ssize_t first = i * all.rows // all.shares, end = (i + 1) * all.rows // all.shares
    if append_block_rows(all, first, end, all.queues[i]) < 0:
        with gil:
            raise MemoryError
    return 0


# Appends the rows from `start` to `end`, a block after the other; -1 where memory is short.
cdef int append_block_rows(const Appending* all, Py_ssize_t start, Py_ssize_t end,
                           Updates* out) noexcept nogil:
    cdef Py_ssize_t i, next
    cdef uint64_t* update
    if reserve(out, end - start) < 0:
        return -1
    while start < end:
        next = min(end, start + BLOCK_ROWS)
        update = update_at(out, out.length)
        if read_rows(all.columns, all.count, start, next, update, out.stride, all.strings) < 0:
            return -1
        out.length += next - start
        for i in range(start, start if is_bare(out) else next):
            update[out.row_words] = all.time if all.times == NULL else all.times[i]
            update[out.stride - 1] = <uint64_t> (all.diff if all.diffs == NULL else all.diffs[i])
            update += out.stride
        start = next
    return 0
