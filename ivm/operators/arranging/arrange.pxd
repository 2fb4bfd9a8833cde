from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator
from ivm.rows.updates cimport Updates
from ivm.trace.spine cimport Trace


# Sealing seals updates into a trace.
cdef class Sealing(Operator):
    cdef readonly Trace trace
    cdef int _no_memory(self) except -1 nogil


cdef class Arrange(Sealing):
    cdef tuple sources
    cdef vector[void*] given    # borrowed from `sources`
    cdef bint dates             # seals updates at other times than they have
    # Sets the times of the updates to be sealed, if it `dates`.
    cdef void date(self, Updates* updates) noexcept nogil
    cdef int level(self) except -1 nogil
    cdef int seal(self) except -1 nogil
    cdef int seal_together(self) except -1 nogil
