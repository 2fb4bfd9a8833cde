"""The source of a delta join's path: the new updates of one relation.

The relations after it are looked up as they were before this activation. Where one of them was empty then,
the path has no output, and the source emits nothing: all paths but the last are saved while a dataflow is
hydrated.
"""

from libcpp.vector cimport vector

from ivm.operators.base.flatten cimport Flatten
from ivm.operators.base.operator cimport Reader, Region
from ivm.rows.packing cimport Packing


cdef class Changes(Flatten):
    """The new updates of `reader`, unless one of `later` was empty before this activation.

    `later` has, for each relation after this one, a reader of its arrangement.
    """

    cdef tuple later
    cdef vector[void*] relations    # borrowed from `later`

    def __init__(self, Region region, int row_words, Reader reader, Packing packing, tuple later):
        Flatten.__init__(self, region, row_words, reader, packing)
        self.later = later
        for other in later:
            self.relations.push_back(<void*> <Reader?> other)

    cdef Py_ssize_t load(self) noexcept nogil:
        cdef Py_ssize_t waiting = Flatten.load(self)
        return waiting if waiting > 0 and self._leads_on() else 0

    cdef int step(self) except -1 nogil:
        if not self._leads_on():
            self.out.length = 0
            return 0
        return Flatten.step(self)

    cdef bint _leads_on(self) noexcept nogil:
        cdef void* other
        for other in self.relations:
            if not (<Reader> other).remembers(self.region):
                return False
        return True
