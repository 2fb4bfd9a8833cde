from ivm.operators.operator cimport Operator
from ivm.rows.updates cimport Updates


cdef class Capture(Operator):
    cdef Operator source
    cdef Updates taken      # since the last drain
