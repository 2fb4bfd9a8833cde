from libc.stdint cimport uint64_t

from ivm.operators.base.operator cimport Operator
from ivm.operators.loops.parking cimport Parking
from ivm.rows.updates cimport Updates


cdef class Variable(Operator):
    cdef Parking parking


cdef class Feedback(Operator):
    cdef Operator source
    cdef Variable variable
    cdef uint64_t rounds


cdef class Collect(Operator):
    cdef Operator source
    cdef Updates gathered   # times without the innermost coordinate
