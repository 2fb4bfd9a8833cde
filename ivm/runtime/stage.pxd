cimport cython
from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Region
from ivm.runtime.account cimport Account
from ivm.threads.work_stealing cimport Slice

# What members of a cluster say at a meeting (`ivm.runtime.meeting`); the least of it holds for all. Less than WORK is
# the cause for which a loop fails.
cdef enum:
    WORK = 16       # there are rows for it,
    LATER = 17      # or not: more by the place of the next stage or round that has work;

cdef extern from "<stdint.h>":
    const uint64_t NOTHING "UINT64_MAX"     # none has

# One operator in all shards, or for all.
cdef class Stage:
    cdef readonly tuple operators       # one for each shard, or a single one
    cdef vector[void*] shards           # borrowed from `operators`
    cdef vector[Py_ssize_t] loads       # of the shards, while they run
    cdef vector[void*] reads            # stages that its operators read, or their traces, borrowed
    cdef vector[void*] reads_found      # traces that were there before and that they read, one of each
    cdef void* root                     # the stage of the root that it belongs to, borrowed
    cdef Py_ssize_t worth               # updates of a shard for which a thread is worth waking
    cdef bint left                      # whether it left something for the stages that read it
    cdef bint fallible                  # whether it can be troubled
    cdef bint settles                   # whether there is anything to do at the end of a step
    cdef bint slices                    # whether its operators share what is new in traces, and how:
    cdef bint owns                      # see Operator
    cdef bint keeps
    cdef int divided                    # into so many parts, the last time,
    cdef vector[Slice] shares           # of which these are for each shard
    cdef Py_ssize_t unrested            # what the shards were given since they last rested
    cdef Py_ssize_t unsettled           # and since they last settled
    cdef uint64_t rows                  # that it has put out
    cdef uint64_t given                 # to a loop of the root, its body and the loops in it, since it began to run
    # Kept by the schedule or the loop that it belongs to:
    cdef void* owner                    # that one, borrowed; NULL if there is none
    cdef bint queued                    # whether it is to be asked in this step or round
    cdef vector[void*] sources          # the stages of that one that it reads, borrowed
    cdef vector[void*] followers        # and those that read it
    # For a stage of the root, kept by the schedule:
    cdef uint64_t place                 # its rank among the stages: upstream comes first
    cdef size_t awaited                 # followers that have yet to read what it left behind
    cdef vector[void*] traces           # those that it writes, at any depth, borrowed
    cdef readonly Region outer          # the scope that it belongs to
    cdef int overflowed                 # not 0 once a count has overflowed in it
    cdef readonly bint tells_rows       # whether what it leaves is what it puts out
    cdef Account account                # of its time
    cdef readonly object mesh           # by which it meets its like in other processes; None if it does not
    # Says that `root` is the stage of the root that its operators and traces belong to.
    cdef void belong(self, Stage root)
    # Says `value` at its meeting, whose number is `place`; returns the least that a member says.
    cdef uint64_t meet(self, uint64_t place, uint64_t value) except 0 nogil
    cdef Py_ssize_t yields(self) noexcept nogil
    cdef bint troubled(self) noexcept nogil
    cdef void empty(self) noexcept nogil
    # What its operators foresee; their load, if that is more than `most` already.
    cdef Py_ssize_t foreseen(self, Py_ssize_t most) except -1
    # The bytes that its operators hold.
    cdef size_t held_bytes(self) noexcept nogil
    # Takes what has come; whether anything has.
    cdef bint run(self) except -1 nogil
    @cython.final
    cdef Py_ssize_t activate(self, Py_ssize_t total) except -1 nogil
    @cython.final
    cdef int rest_all(self, Py_ssize_t given) except -1 nogil
    @cython.final
    cdef int settle_all(self, Py_ssize_t given) except -1 nogil
    cdef Py_ssize_t find_loads(self) noexcept nogil
    cdef void divide(self, Py_ssize_t updates) noexcept nogil
    cdef int share(self) except -1 nogil
    cdef int take_turns(self) except -1 nogil
    cdef bint parks(self)
    cdef bint parked(self, uint64_t* at) noexcept nogil
    cdef int rest(self) except -1 nogil
    cdef int settle(self) except -1 nogil
    cdef void abandon(self) noexcept nogil
    # Whether helpers merge what is in a trace that it writes; and takes over what they have merged, if they have
    # done so: whether there was any.
    cdef bint merges(self) noexcept nogil
    cdef int take_merged(self) except -1 nogil


# An operator whose shards hand rows to each other.
cdef class Crossing(Stage):
    pass
