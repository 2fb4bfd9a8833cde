from libc.stdint cimport uint64_t

from ivm.trace.batch cimport Batch
from ivm.trace.merging.merge_state cimport Merge


# Starts to merge two neighbouring batches, with every time joined with `since`, of `time_words` coordinates.
# As of `since` no time can be told from its joined one. The caller keeps both batches until the merge is
# finished or given up. Their updates together must be at most MOST_UPDATES. NULL where memory is short.
cdef Merge* start_merge(Batch* a, Batch* b, const uint64_t* since) noexcept nogil

# Moves about `fuel` updates; returns the unused fuel, so that more than 0 means complete.
cdef Py_ssize_t work_merge(Merge* m, Py_ssize_t fuel) noexcept nogil

# Returns the result of a complete merge, which may be empty; frees the merge. If a sum of diffs has overflowed, that is
# noted now: who moved the updates may be a helper.
cdef Batch* finish_merge(Merge* m) noexcept nogil

# Gives up a merge.
cdef void free_merge(Merge* m) noexcept nogil

# Merges two batches in one go; NULL where memory is short.
cdef Batch* merge_batches(Batch* a, Batch* b, const uint64_t* since) noexcept nogil
