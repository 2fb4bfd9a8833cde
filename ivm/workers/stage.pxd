from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.operator cimport Region


# One operator in all shards.
cdef class Stage:
    cdef readonly tuple operators       # one for each shard
    cdef vector[void*] shards           # borrowed from `operators`
    cdef vector[Py_ssize_t] loads       # of the shards, while they run
    cdef bint left                      # whether a shard's output may hold updates
    cdef Py_ssize_t unrested            # what the shards were given since they last rested
    cdef Py_ssize_t unsettled           # and since they last settled
    # For a stage of the root, kept by the schedule that it belongs to:
    cdef uint64_t place                 # its rank among the stages: upstream comes first
    cdef bint queued                    # whether it is to run in this step
    cdef size_t awaited                 # followers that have yet to read what it left behind
    cdef vector[void*] sources          # the stages that it reads, borrowed
    cdef vector[void*] followers        # the stages that read it, borrowed
    cdef void* schedule                 # that one, borrowed; NULL if there is none
    cdef list traces                    # those that it writes, at any depth
    cdef readonly Region outer          # the scope that it belongs to
    # Says that `root` is the stage of the root that its operators and traces belong to.
    cdef void belong(self, Stage root)
    cdef bint yields(self) noexcept nogil
    cdef bint troubled(self) noexcept nogil
    cdef void empty(self) noexcept nogil
    cdef int run(self) except -1 nogil
    cdef Py_ssize_t load(self) noexcept nogil
    cdef bint parks(self)
    cdef bint parked(self, uint64_t* at) noexcept nogil
    cdef int rest(self) except -1 nogil
    cdef int settle(self) except -1 nogil
    cdef void abandon(self) noexcept nogil


# The stages of a loop's body, run round by round.
cdef class Loop(Stage):
    cdef readonly Region region
    cdef readonly tuple stages
    cdef vector[void*] body             # borrowed from `stages`
    cdef vector[void*] parking          # those of the body that may hold updates back
    cdef readonly uint64_t max_rounds
    cdef readonly bint failed           # did not converge within `max_rounds`
    cdef void enter(self) noexcept nogil
    cdef int round(self) except -1 nogil
    cdef bint next_round(self) noexcept nogil
