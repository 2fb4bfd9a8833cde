from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Region
from ivm.rows.interner cimport Interner
from ivm.threads.work_stealing cimport Slice

# The causes for which a loop is stopped.
cdef enum Failure:
    NONE = 0
    ROUNDS      # more than the pool's bound
    LIMIT       # more than its own
    UPDATES
    SECONDS
    BYTES
    PROCESS     # more bytes than the process may have
    OVERFLOW


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
    # Says that `root` is the stage of the root that its operators and traces belong to.
    cdef void belong(self, Stage root)
    cdef bint yields(self) noexcept nogil
    cdef bint troubled(self) noexcept nogil
    cdef void empty(self) noexcept nogil
    # What its operators foresee; their load, if that is more than `most` already.
    cdef Py_ssize_t foreseen(self, Py_ssize_t most) except -1
    # The bytes that its operators hold.
    cdef size_t held_bytes(self) noexcept nogil
    # Takes what has come; whether anything has.
    cdef bint run(self) except -1 nogil
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


# Lets `stage` follow the stages of `owner`, a schedule or a loop, that `part` of it reads: itself, or a
# stage of its body; whether that reads others as well.
cdef bint follow(Stage stage, Stage part, void* owner) except -1


# An operator whose shards hand rows to each other.
cdef class Crossing(Stage):
    pass


# The stages of a loop's body, run round by round. Those that nothing has reached are not looked at.
cdef class Loop(Stage):
    cdef readonly Region region
    cdef readonly tuple stages
    cdef vector[void*] body             # borrowed from `stages`
    cdef vector[void*] entrances        # those of the body that read what is outside
    cdef vector[void*] exits            # those of the body that are read outside
    cdef vector[void*] parking          # those that may hold updates back
    cdef readonly tuple names           # of the bindings: for each stage of the body, the one that it is of
    cdef readonly uint64_t max_rounds
    cdef readonly bint limited          # whether these are its own limit, and not the pool's
    cdef readonly uint64_t max_updates
    cdef readonly uint64_t max_bytes
    cdef readonly uint64_t max_process_bytes
    cdef readonly double max_seconds
    cdef Interner interner              # of the strings in its names' rows; None if these have none
    cdef int unchecked                  # rounds of the outermost loop since its other bounds were checked, in this step
    cdef uint64_t checked               # and what it was given when its memory was weighed
    cdef double began                   # when they were first checked, or a negative number
    cdef uint64_t before                # and the bytes that it held then
    cdef uint64_t strings               # and the bytes of all strings when the step began
    cdef Failure failed                 # why it was stopped, if it was, and will not run again,
    cdef uint64_t failed_at             # in which round,
    cdef size_t failed_in               # and, by an overflow, in which stage of its body
    cdef void enter(self) noexcept nogil
    cdef bint round(self) except -1 nogil
    cdef int rest_body(self) except -1 nogil
    cdef bint next_round(self) noexcept nogil
    cdef void stop_at_bounds(self) noexcept nogil
    cdef tuple bound(self)
    cdef void check(self) noexcept nogil
    cdef Failure weigh(self, Interner interner) noexcept nogil
    cdef void fail(self, Failure cause) noexcept nogil
