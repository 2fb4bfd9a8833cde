from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.aggregates.ordering cimport Candidate, Ordering
from ivm.operators.aggregates.order_statistics cimport Ranking
from ivm.rows.updates cimport Updates

# A logic is the function of a reduce: it turns one group's values at one time into output values.
cdef class Logic:
    cdef readonly int out_words         # words of an output value
    cdef readonly Ordering ordering     # of a group's values, or None where it does not matter
    # The number of copies of first values that determine the output; 0 where a ranking finds the values.
    cdef readonly int64_t wanted
    cdef bint nets                      # takes the group's total, which must be above 0, and not each count
    # Appends the group's output values as updates without time to `result`; none for an empty group. `group`
    # ascends strictly by words and has positive counts, or, where the logic `nets`, counts other than 0; it
    # may be reordered.
    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil
    # Applies the logic to a group that is ranked; `group` is room for its values.
    cdef int apply_ranked(self, Ranking ranking, vector[Candidate]* group, Updates* result) except -1 nogil
    # True if no value at or after `next` by its words can change the output of `group`. The group is not
    # empty and holds `total` copies.
    cdef bint enough(self, vector[Candidate]* group, int64_t total, const uint64_t* next) noexcept nogil
