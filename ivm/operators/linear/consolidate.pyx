"""Consolidation: no two updates of an activation have the same row and time, and no diff is zero.

Equal rows must be in the same shard already. What costs more for each update than a sort does,
such as a Python function, gains from it; arranging and reducing consolidate by themselves.
"""

from ivm.operators.base.operator cimport Operator, Region
from ivm.rows.updates cimport append
from ivm.trace.sorting.sort cimport consolidate


cdef class Consolidate(Operator):
    """The updates of `source`, consolidated."""

    cdef Operator source

    def __init__(self, Region region, int row_words, Operator source):
        self.source = source

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        self.out.length = 0
        if append(&self.out, self.source.out.words, self.source.out.length) < 0 or (
                consolidate(&self.out) < 0):
            with gil:
                raise MemoryError("no memory to consolidate updates")
        return 0
