from libc.stdint cimport uint64_t

from ivm.trace.batch cimport Batch
from ivm.trace.merging.merge_state cimport Merge


# Starts to add up two neighbouring batches with every time joined with `since`, of `time_words`
# coordinates: no time at or after `since` can tell. Whoever starts it keeps both batches until it is
# finished or given up. NULL where memory is short. Their updates together must be at most MOST_UPDATES.
cdef Merge* start_merge(Batch* a, Batch* b, const uint64_t* since) noexcept nogil

# Moves about `fuel` updates; returns what is left of it, so that more than 0 means complete.
cdef Py_ssize_t work_merge(Merge* m, Py_ssize_t fuel) noexcept nogil

# The result of a complete merge, which may be empty; frees the merge.
cdef Batch* finish_merge(Merge* m) noexcept nogil

# Gives up a merge.
cdef void free_merge(Merge* m) noexcept nogil

# The sum in one go; NULL where memory is short.
cdef Batch* merge_batches(Batch* a, Batch* b, const uint64_t* since) noexcept nogil
