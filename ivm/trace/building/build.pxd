from libc.stdint cimport uint64_t

from ivm.rows.updates cimport Updates
from ivm.trace.batch cimport Batch

# Builds a batch of consolidated updates, at least one and at most MOST_UPDATES. A row is a key's words and
# then a value's. NULL where memory is short.
cdef Batch* build_batch(const Updates* updates, int key_words) noexcept nogil

# Consolidates updates in any order in place, and builds a batch of them, which may be empty.
cdef Batch* build_in_place(Updates* updates, int key_words) noexcept nogil

# Sums `count` batches of few updates, at least one, with every time joined with `since`. The sum may be
# empty; NULL where memory is short.
cdef Batch* sum_batches(Batch** batches, size_t count, const uint64_t* since) noexcept nogil
