from ivm.operators.dealer cimport Dealer
from ivm.operators.operator cimport Operator
from ivm.rows.updates cimport Updates
from ivm.trace.trace cimport Trace


cdef class Arrange(Operator):
    cdef Operator source
    cdef Dealer dealer      # the source, if that may leave rows in buckets; else None
    cdef bint dates         # whether it seals updates at other times than they have
    cdef readonly Trace trace
    # Says at which times the updates to be sealed are, if it `dates`.
    cdef void date(self, Updates* updates) noexcept nogil
    cdef int seal(self, Updates* given) except -1 nogil
    cdef int _no_memory(self) except -1 nogil
