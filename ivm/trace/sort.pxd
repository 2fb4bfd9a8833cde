from ivm.rows.updates cimport Updates

# Sorts by (row, time), adds up the diffs of equal (row, time) and drops those that come to zero:
# survivors ascend strictly. 0, or -1 where memory is short (then nothing is lost, but unsorted).
cdef int consolidate(Updates* updates) noexcept nogil
