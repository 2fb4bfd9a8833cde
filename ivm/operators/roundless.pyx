"""Arranging in a loop that only grows, without the rounds.

Its fixed point is the least one, in whatever round a row is found, and a row that is found stays.
So a batch keeps the root times alone: mostly one, which takes no memory, where rounds would need a
word of index for each update and would never be compacted. Who reads the trace dates what it makes
no earlier than the present round.
"""

from libc.stdint cimport uint64_t
from libc.string cimport memset

from ivm.operators.arrange cimport Arrange
from ivm.rows.updates cimport append
from ivm.trace.sort cimport consolidate


cdef class ArrangeRoundless(Arrange):
    """Seals each activation's input as a batch, all of it in the loops' first rounds."""

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i
        cdef size_t rounds = (self.out.time_words - 1) * sizeof(uint64_t)
        self.out.length = 0
        if append(&self.out, self.source.out.words, self.source.out.length) < 0:
            self._no_memory()
        for i in range(self.out.length):
            memset(self.out.words + i * self.out.stride + self.out.row_words + 1, 0, rounds)
        if consolidate(&self.out) < 0:
            self._no_memory()
        self.trace.seal(&self.out, self.region.lower)
        self.out.length = 0
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory to sort an arrangement's updates")
