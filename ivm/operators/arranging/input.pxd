from libc.stdint cimport uint64_t

from ivm.operators.base.operator cimport Operator
from ivm.rows.updates cimport Updates


cdef class Input(Operator):
    cdef Updates queue      # updates at times not yet completed, from `start` on
    cdef Py_ssize_t start
    cdef bint ordered       # the queue ascends by time
    cdef bint arranged      # an arrangement is the only reader: the queue may be bare
    # True if bare rows of `time` may queue: the queue then holds no other updates.
    cdef bint may_be_bare(self, uint64_t time) noexcept nogil
    # Makes the queue one of bare rows of `time`, if `bare`, or of ordinary updates. Raises MemoryError; then
    # nothing has changed.
    cdef int make_bare(self, bint bare, uint64_t time) except -1
    # True if an ordered queue stays ordered when `time` follows.
    cdef bint follows(self, uint64_t time) noexcept nogil
    # Sorts the queue by time.
    cdef int order(self) except -1 nogil
    # The least queued time after the first `times` distinct ones; the greatest number if there is none.
    cdef uint64_t after(self, Py_ssize_t times) except? 0 nogil
    cdef uint64_t _time(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t _first_from(self, uint64_t time) noexcept nogil
