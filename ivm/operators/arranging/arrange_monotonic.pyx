"""Monotonic arrange: in a loop that only grows, batches keep root times alone, without the rounds.

The loop's fixed point is the least one, in whatever round a row is found, and a row that is found stays. So
most batches have one time, which takes no memory, where rounds would need a word of index for each update and
would never be compacted. Readers of the trace date their output no earlier than the present round.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memset

from ivm.operators.arranging.arrange cimport Arrange
from ivm.rows.updates cimport Updates, update_at


cdef class ArrangeMonotonic(Arrange):
    """Seals each activation's input as a batch, at the loops' first rounds."""

    def __cinit__(self, *args):
        self.dates = True

    cdef void date(self, Updates* updates) noexcept nogil:
        cdef Py_ssize_t i
        cdef size_t rounds = (updates.time_words - 1) * sizeof(uint64_t)
        for i in range(updates.length):
            memset(update_at(updates, i) + updates.row_words + 1, 0, rounds)
