"""Concat adds up collections, or subtracts them."""

from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator, Region, let_go, read_alone
from ivm.rows.updates cimport append, reserve
from ivm.trace.counts cimport negate


cdef class Union(Operator):
    """Adds up all `sources`, whose rows have one format; updates of those marked in `negated` change sign."""

    cdef tuple sources
    cdef vector[void*] inputs       # borrowed from `sources`
    cdef vector[bint] negated

    def __init__(self, Region region, int row_words, tuple sources, tuple negated):
        self.sources = sources
        for source, negative in zip(sources, negated, strict=True):
            self.inputs.push_back(<void*> source)
            self.negated.push_back(negative)

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t total = 0
        cdef size_t s
        for s in range(self.inputs.size()):
            total += (<Operator> self.inputs[s]).out.length
        return total

    cdef int step(self) except -1 nogil:
        cdef size_t s
        cdef Py_ssize_t start, total = self.load()
        self.out.length = 0
        for s in range(self.inputs.size()):
            start = self.out.length
            if start == 0 and read_alone(<Operator> self.inputs[s]):
                self.out, (<Operator> self.inputs[s]).out = (
                    (<Operator> self.inputs[s]).out, self.out)
                self._negate(s, 0)
                continue
            if reserve(&self.out, total - start) < 0 or append(
                    &self.out, (<Operator> self.inputs[s]).out.words,
                    (<Operator> self.inputs[s]).out.length) < 0:
                with gil:
                    raise MemoryError("no memory for a union")
            self._negate(s, start)
            let_go(<Operator> self.inputs[s])
        return 0

    # Changes the sign of the updates from `start` on if source `s` is to be negated.
    cdef void _negate(self, size_t s, Py_ssize_t start) noexcept nogil:
        cdef Py_ssize_t i
        if self.negated[s]:
            for i in range(start, self.out.length):
                negate(self.out.words + (i + 1) * self.out.stride - 1)
