from ivm.rows.updates cimport Updates
from ivm.trace.batch cimport Batch

# Builds a batch of updates in any order, at most MOST_UPDATES, and consumes them. A row is a key's words and
# then a value's. The batch may be empty; NULL where memory is short.
cdef Batch* build_unsorted(Updates* updates, int key_words) noexcept nogil

# Builds a batch of at least one update, partitioned by leading varying bits; `ends` are those of the buckets.
cdef Batch* build_dealt(Updates* dealt, const Py_ssize_t* ends, Py_ssize_t buckets,
                        int key_words) noexcept nogil

# --- for batches that are built in several parts ---

# The outcome of appending rows to a batch.
cdef enum Appended:
    APPENDED
    SEVERAL_TIMES       # a batch of one time cannot have them
    NO_MEMORY

# Appends partitioned updates of one time to a batch with room for them. Their diffs go to `diffs`, unless all
# are 1.
cdef Appended append_dealt(Batch* b, Updates* dealt, const Py_ssize_t* ends, Py_ssize_t buckets,
                           Updates* diffs) noexcept nogil
