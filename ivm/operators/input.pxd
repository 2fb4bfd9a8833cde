from libc.stdint cimport uint64_t

from ivm.operators.operator cimport Operator
from ivm.rows.updates cimport Updates


cdef class Input(Operator):
    cdef Updates queue      # fed updates at times not yet completed, from `start` on
    cdef Py_ssize_t start
    cdef bint ordered       # the queue ascends by time
    # Whether a queue that is ordered stays so if `time` follows.
    cdef bint follows(self, uint64_t time) noexcept nogil
    # Sorts the queue by time.
    cdef int order(self) except -1 nogil
    # The time before which lie just the first `times` distinct times of the queue; the greatest
    # number if there are no more.
    cdef uint64_t after(self, Py_ssize_t times) except? 0 nogil
    cdef uint64_t _time(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t _first_from(self, uint64_t time) noexcept nogil
