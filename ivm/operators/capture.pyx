"""Capture: a collection's changes kept until somebody takes them."""

from ivm.operators.operator cimport Operator, Region, read_alone
from ivm.rows.updates cimport append, empty_updates, release


cdef class Capture(Operator):
    """One shard's updates of `source`, of all steps since they were last taken."""

    def __init__(self, Region region, int row_words, Operator source):
        self.source = source
        self.taken = empty_updates(row_words, region.depth)

    def __dealloc__(self):
        release(&self.taken)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        if self.taken.length == 0 and read_alone(self.source):
            self.taken, self.source.out = self.source.out, self.taken
        elif append(&self.taken, self.source.out.words, self.source.out.length) < 0:
            with gil:
                raise MemoryError("no memory for deltas that nobody has taken")
        return 0
