"""Projection: a row's columns moved into another format, without evaluating anything."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy

from ivm.operators.operator cimport Operator, Region
from ivm.rows.packing cimport Packing
from ivm.rows.updates cimport reserve


cdef class Project(Operator):
    """Each update of `source` with its row repacked by `packing`."""

    cdef Operator source
    cdef Packing packing

    def __init__(self, Region region, int row_words, Operator source, Packing packing):
        self.source = source
        self.packing = packing

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i
        cdef const uint64_t* update
        cdef uint64_t* target
        self.out.length = 0
        if reserve(&self.out, self.source.out.length) < 0:
            with gil:
                raise MemoryError("no memory for a projection")
        for i in range(self.source.out.length):
            update = self.source.out.words + i * self.source.out.stride
            target = self.out.words + i * self.out.stride
            self.packing.pack(update, NULL, NULL, target)
            memcpy(target + self.out.row_words, update + self.source.out.row_words,
                   (self.out.time_words + 1) * sizeof(uint64_t))
        self.out.length = self.source.out.length
        return 0
