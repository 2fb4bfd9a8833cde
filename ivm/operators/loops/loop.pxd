from ivm.operators.base.operator cimport Operator
from ivm.operators.loops.parking cimport Parking
from ivm.rows.updates cimport Updates


cdef class Variable(Operator):
    cdef Parking parking


cdef class Collect(Operator):
    cdef Operator source
    cdef Updates gathered   # times without the innermost coordinate
