from libc.stdint cimport uint64_t

from ivm.operators.base.operator cimport Operator
from ivm.rows.updates cimport Updates


cdef class Input(Operator):
    cdef Updates queue      # fed updates at times not yet completed, from `start` on
    cdef Py_ssize_t start
    cdef bint ordered       # the queue ascends by time
    cdef bint arranged      # whether the queue may be bare
    # Whether bare rows of `time` may queue: nothing else does.
    cdef bint may_be_bare(self, uint64_t time) noexcept nogil
    # Makes the queue one of bare rows of `time`, as it may be, or of ordinary updates. Raises MemoryError;
    # then nothing has changed.
    cdef int make_bare(self, bint bare, uint64_t time) except -1
    # Whether a queue that is ordered stays so if `time` follows.
    cdef bint follows(self, uint64_t time) noexcept nogil
    # Sorts the queue by time.
    cdef int order(self) except -1 nogil
    # The time before which lie just the first `times` distinct times of the queue; the greatest
    # number if there are no more.
    cdef uint64_t after(self, Py_ssize_t times) except? 0 nogil
    cdef uint64_t _time(self, Py_ssize_t i) noexcept nogil
    cdef Py_ssize_t _first_from(self, uint64_t time) noexcept nogil
