# Work stealing over slices of an index range, one for each thread.

from libc.stdint cimport uint64_t

cdef struct Slice:
    int begin           # its first part
    uint64_t waiting    # parts not begun, as (first, end): changed atomically

# Makes it one of the parts from `begin` to before `end`. Nobody may take any meanwhile.
cdef void fill_slice(Slice* slice, int begin, int end) noexcept nogil

# Takes the first part of slices[own] that waits; if none does, the last one of another slice that has been begun. False
# if there is no such one.
cdef bint take_part(Slice* slices, int count, int own, int* part) noexcept nogil
