from libc.stdint cimport uint64_t

from ivm.trace.merging.merge_state cimport Merge


# Writes the dictionary of the result's times, each joined with `since`, and each side's way into it;
# `advanced` has room for all times of both. -1 where memory is short.
cdef int merge_times(Merge* m, const uint64_t* since, uint64_t* advanced) noexcept nogil
