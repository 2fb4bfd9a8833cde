"""Consolidate adds up equal updates of an activation and drops zeros.

Afterwards no two updates have the same row and time, and no diff is zero. Equal rows must be in the same
shard already. Operators that cost more for each update than a sort does, such as a Python function, gain from
it; arranging and reducing consolidate by themselves.
"""

from ivm.operators.base.operator cimport Operator, Region
from ivm.rows.updates cimport append
from ivm.trace.sorting.sort cimport consolidate


cdef class Consolidate(Operator):
    """Emits the updates of `source`, consolidated."""

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
