from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates

# One value of a group and how many copies of it there are.
cdef struct Candidate:
    const uint64_t* val
    int64_t count


# What a reduction makes of one group at one time.
cdef class Logic:
    cdef readonly int out_words     # words of an output value
    cdef readonly bint selects      # output values are among the input's
    # Appends the group's output values as updates without time to `result`; none for an empty group.
    # `group` ascends strictly by words and has positive counts; it may be reordered.
    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil
    # True if no value that is not below `next` can change the output of `group`, which holds `total` copies.
    cdef bint enough(self, vector[Candidate]* group, int64_t total, const uint64_t* next) noexcept nogil
