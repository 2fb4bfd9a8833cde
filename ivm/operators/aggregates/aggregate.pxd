from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.aggregates.ordering cimport Candidate, Ordering
from ivm.operators.aggregates.order_statistics cimport Ranking
from ivm.rows.updates cimport Updates

# What a reduction makes of one group at one time.
cdef class Logic:
    cdef readonly int out_words         # words of an output value
    cdef readonly Ordering ordering     # of a group's values, or None where it does not matter
    # Copies of the first values that determine the output; 0 where a ranking tells those that do.
    cdef readonly int64_t wanted
    cdef bint nets                      # of the group's total, which is to be above 0: a count may be below
    # Appends the group's output values as updates without time to `result`; none for an empty group.
    # `group` ascends strictly by words and has positive counts, or where it nets any but 0; it may be reordered.
    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil
    # The same of a group that is ranked; `group` is room for its values.
    cdef int apply_ranked(self, Ranking ranking, vector[Candidate]* group, Updates* result) except -1 nogil
    # True if no value that is not below `next` by its words can change the output of `group`, which
    # holds `total` copies and is not empty.
    cdef bint enough(self, vector[Candidate]* group, int64_t total, const uint64_t* next) noexcept nogil
