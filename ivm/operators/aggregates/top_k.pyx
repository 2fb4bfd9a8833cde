"""Top-k selects a group's rows by position; min and max are top-1, thresholds of counts the top-k of
nothing.
"""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.aggregates.aggregate cimport Logic
from ivm.operators.aggregates.ordering cimport Candidate, Ordering
from ivm.rows.updates cimport Updates, push
from ivm.trace.counts cimport sum_of


cdef class TopK(Logic):
    """Selects the copies at positions `offset` to `offset + limit` (None: to the end) of `ordering`."""

    cdef int64_t offset

    def __init__(self, Ordering ordering, offset, limit):
        self.ordering = ordering
        self.out_words = ordering.words
        self.offset = min(offset, self.wanted)
        if limit is not None:
            self.wanted = min(offset + limit, self.wanted)

    cdef int apply(self, vector[Candidate]* group, Updates* result) except -1 nogil:
        cdef int64_t position = 0, first, last
        cdef size_t i
        cdef uint64_t* update
        self.ordering.sort(group)
        for i in range(group.size()):
            first = max(position, self.offset)
            position = sum_of(position, group[0][i].count)
            last = min(position, self.wanted)
            if first < last:
                update = push(result)
                if update == NULL:
                    with gil:
                        raise MemoryError("no memory for a group's selected rows")
                memcpy(update, group[0][i].val, self.out_words * sizeof(uint64_t))
                update[result.stride - 1] = <uint64_t> (last - first)
            if position >= self.wanted:
                break
        return 0
