from ivm.operators.operator cimport Operator
from ivm.trace.trace cimport Trace


cdef class Arrange(Operator):
    cdef Operator source
    cdef readonly Trace trace
    cdef int _no_memory(self) except -1 nogil
