from ivm.operators.operator cimport Operator
from ivm.rows.updates cimport Updates


cdef class Input(Operator):
    cdef Updates queue      # fed updates at times not yet completed
    cdef bint _all_due(self) noexcept nogil
