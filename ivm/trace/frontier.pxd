from libc.stdint cimport uint64_t
from libcpp.vector cimport vector


# An antichain holds the minimal elements of a set of times, and stands for all times at or after one of them.
cdef class Antichain:
    cdef readonly int time_words        # coordinates of a time
    cdef vector[uint64_t] elements      # time_words for each, ascending lexicographically

    cdef size_t count(self) noexcept nogil
    cdef const uint64_t* at(self, size_t i) noexcept nogil
    # Adds a time unless an element is at or before it; drops elements at or after it.
    cdef bint insert_time(self, const uint64_t* time) except -1 nogil
    # True if `time` is at or after some element.
    cdef bint reaches(self, const uint64_t* time) noexcept nogil
    # Writes the elements' meet to `out`; False for the empty antichain, which has none.
    cdef bint meet_of(self, uint64_t* out) noexcept nogil
