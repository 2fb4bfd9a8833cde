# The queue writer appends rows of Arrow columns to queues.

from libc.stdint cimport int64_t, uint64_t

from ivm.rows.columns cimport Column
from ivm.rows.layout cimport Layout
from ivm.rows.interner cimport Interner
from ivm.rows.updates cimport Updates

# Appends one update (depth 1) for each of the `n` rows to one of `count` queues; `times` and `diffs` as for
# `encode`. Rows that share a queue stay in their order. Raises MemoryError; the queues may then have grown.
cdef int append_rows(
    const Column* columns, Layout layout, Interner interner, Py_ssize_t n, const uint64_t* times,
    uint64_t time, const int64_t* diffs, int64_t diff, Updates** queues, int count
) except -1
