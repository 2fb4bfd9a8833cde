"""Project moves a row's columns into another format, without evaluating expressions."""

from libc.stdint cimport uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator, Region, read_alone
from ivm.rows.packing cimport Packing, pack
from ivm.rows.updates cimport reserve, update_at


cdef class Project(Operator):
    """Emits each update of `source` with its row repacked by `packing`."""

    cdef Operator source
    cdef Packing packing
    cdef vector[uint64_t] row       # scratch

    def __init__(self, Region region, int row_words, Operator source, Packing packing):
        self.source = source
        self.packing = packing
        self.row.resize(source.out.row_words)

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef int step(self) except -1 nogil:
        cdef Py_ssize_t i
        cdef const uint64_t* update
        cdef uint64_t* target
        if read_alone(self.source) and self.source.out.stride == self.out.stride:
            self._repack()
            return 0
        self.out.length = 0
        if reserve(&self.out, self.source.out.length) < 0:
            with gil:
                raise MemoryError("no memory for a projection")
        for i in range(self.source.out.length):
            update = self.source.out.words + i * self.source.out.stride
            target = self.out.words + i * self.out.stride
            pack(self.packing, update, NULL, NULL, target)
            memcpy(target + self.out.row_words, update + self.source.out.row_words,
                   (self.out.time_words + 1) * sizeof(uint64_t))
        self.out.length = self.source.out.length
        return 0

    # Repacks the rows in place.
    cdef void _repack(self) noexcept nogil:
        cdef Py_ssize_t i
        cdef size_t bytes = self.out.row_words * sizeof(uint64_t)
        self.out, self.source.out = self.source.out, self.out
        self.source.out.length = 0
        for i in range(self.out.length):
            memcpy(self.row.data(), update_at(&self.out, i), bytes)
            pack(self.packing, self.row.data(), NULL, NULL, update_at(&self.out, i))
