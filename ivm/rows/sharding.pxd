# Rows of Arrow's columns into the queues of the shards that own them.

from libc.stdint cimport int64_t, uint64_t

from ivm.rows.columns cimport Column
from ivm.rows.layout cimport Layout
from ivm.rows.strings cimport Interner
from ivm.rows.updates cimport Updates

# Where rows go: to the queue of the shard that owns the columns key[0], ..., key[columns - 1].
cdef struct Owners:
    Updates** queues    # one for each shard
    int shards
    const int* key      # not looked at where there is one shard
    int columns

# Appends one update (depth 1) for each of the `n` rows; `times` and `diffs` as for `encode`. Threads, as
# many as there are shards, share the work of many rows. Those of a queue stay in their order.
# Raises MemoryError; the queues may then have grown.
cdef int append_rows(
    const Column* columns, Layout layout, Interner interner, Py_ssize_t n, const uint64_t* times,
    uint64_t time, const int64_t* diffs, int64_t diff, const Owners* owners
) except -1
