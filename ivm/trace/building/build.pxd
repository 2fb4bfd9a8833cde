from libc.stdint cimport uint64_t

from ivm.rows.updates cimport Updates
from ivm.trace.batch cimport Batch

# A batch of consolidated updates, at most MOST_UPDATES and at least one, whose rows are a key's
# words and then a value's; NULL where memory is short.
cdef Batch* build_batch(const Updates* updates, int key_words) noexcept nogil

# The same of updates in any order, which are sorted and added up in their place; it may be empty.
cdef Batch* build_in_place(Updates* updates, int key_words) noexcept nogil

# The sum of `count` batches of few updates, at least one, with every time joined with `since`; it may
# be empty. NULL where memory is short.
cdef Batch* sum_batches(Batch** batches, size_t count, const uint64_t* since) noexcept nogil
