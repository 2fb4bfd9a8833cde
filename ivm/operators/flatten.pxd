from ivm.operators.operator cimport Operator, Reader
from ivm.rows.packing cimport Packing
from ivm.trace.batch cimport Batch


cdef class Flatten(Operator):
    cdef readonly Reader reader
    cdef Packing packing
    cdef int _emit(self, const Batch* b) except -1 nogil
