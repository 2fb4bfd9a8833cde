from libc.stdint cimport uint64_t

from ivm.trace.merging.merge_state cimport Merge


# Merges the two dictionaries of times, each time joined with `since`, and maps each side's entries into the
# result. `advanced` has room for all times of both. -1 where memory is short.
cdef int merge_times(Merge* m, const uint64_t* since, uint64_t* advanced) noexcept nogil
