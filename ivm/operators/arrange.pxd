from ivm.operators.operator cimport Operator
from ivm.rows.updates cimport Updates
from ivm.trace.trace cimport Trace


cdef class Arrange(Operator):
    cdef Operator source
    cdef readonly Trace trace
    # Says at which times the updates to be sealed are, here those that they have; whether they changed.
    cdef bint date(self, Updates* updates) noexcept nogil
    cdef int _no_memory(self) except -1 nogil
