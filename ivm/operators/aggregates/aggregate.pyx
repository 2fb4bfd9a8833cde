"""The interface of a reduce's logic: top-k, percentiles, collected values and linear aggregates implement
it.
"""

from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.aggregates.ordering cimport Candidate
from ivm.operators.aggregates.order_statistics cimport Ranking
from ivm.rows.updates cimport Updates

cdef int64_t ALL_COPIES = <int64_t> 1 << 62


cdef class Logic:
    """A logic is a function from a group's values to its output values."""

    def __cinit__(self, *args, **kwargs):
        self.wanted = ALL_COPIES

    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil:
        return 0

    cdef int apply_ranked(self, Ranking ranking, vector[Candidate]* group, Updates* result) except -1 nogil:
        ranking.first(self.wanted, group)
        return self.apply(group, result)

    cdef bint enough(self, vector[Candidate]* group, int64_t total, const uint64_t* next) noexcept nogil:
        return total >= self.wanted and self.ordering.precedes(group.back().val, next)
