from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.threads.work_stealing cimport Slice, take_part
from ivm.rows.updates cimport Updates, release_large
from ivm.trace.batch cimport Batch
from ivm.trace.times cimport MAX_COORDINATES
from ivm.trace.spine cimport Trace

cdef enum:
    KEPT_UPDATES = 1 << 14      # buffers up to this size are reused
    WORTH_SEEKING = 32          # updates of a shard, to be looked for, for which a thread is worth waking


# Where a scope stands: the same for all its operators in all shards.
cdef class Region:
    cdef readonly int depth             # coordinates of its times: 1 at the root
    cdef uint64_t lower                 # no time of this activation has a smaller root coordinate
    cdef uint64_t upper                 # nor one that is not below this
    cdef uint64_t at[MAX_COORDINATES]   # the present round of each loop, from index 1 on


# One shard of one operator, or all of it.
cdef class Operator:
    cdef Region region
    cdef Updates out                    # this activation's output; valid until the next one
    cdef bint consolidated              # it ascends, no (row, time) is there twice, and no diff is 0
    cdef int readers                    # operators that were made with this one as a source
    cdef int shard                      # which one it is,
    cdef int shards                     # of so many
    cdef int part                       # which part of what is new in traces it takes,
    cdef int parts                      # of so many: see `slices`
    cdef Slice* shares                  # the parts that are for each shard, borrowed from the stage
    cdef bint parks                     # whether it may hold updates back for later rounds
    cdef bint settles                   # whether it has to do anything at the end of a step
    cdef bint seeks                     # whether it looks for what it is given in what it knows: some
                                        # hundred nanoseconds an update, where others take some ten
    cdef bint slices                    # whether it takes any part of what is new in traces, from one shard
                                        # or from all; one that seeks as well takes several (`takes_part`)
    cdef bint owns                      # or that of the keys which its shard owns, since it keeps a state
    cdef bint keeps                     # whether the shards keep states of keys that `step_all` finds
    # Takes this activation's input and makes `out` anew.
    cdef int step(self) except -1 nogil
    # Of the first shard, if the operator `keeps`: takes what came to all of `shards`, whoever owns it, and
    # puts out what all make of it.
    cdef int step_all(self, const vector[void*]* shards) except -1 nogil
    # The same before all step by themselves: gives what came to the first shard, if it is little, to those
    # who own it.
    cdef int hand_out(self, const vector[void*]* shards) except -1 nogil
    # Whether this activation left something for the operators after it.
    cdef bint yields(self) noexcept nogil
    # Whether it holds errors of rows that nobody has taken.
    cdef bint troubled(self) noexcept nogil
    # Input updates that wait, about: decides whether threads are worth waking.
    cdef Py_ssize_t load(self) noexcept nogil
    # About how much it would put out for its part of what it reads in traces, before it runs; it looks all
    # of that up.
    cdef Py_ssize_t foreseen(self) except -1 nogil
    # Lowers `at` to the earliest round for which this operator holds updates back; False if none.
    cdef bint parked(self, uint64_t* at) noexcept nogil
    # Forgets what is held back, after a loop was stopped.
    cdef void abandon(self) noexcept nogil
    # After the last activation of a step or loop: the output was read; large memory goes back.
    cdef int rest(self) except -1 nogil
    # Tells it that `evaluate` reads it: who makes rows that are evaluated may hand them over early.
    cdef void evaluated_by(self, Operator evaluate) noexcept
    # At the end of a step, once: what it brought is past.
    cdef int settle(self) except -1 nogil


# How an operator sees a trace in this activation: what is new, and what was there before.
cdef class Reader:
    cdef readonly Trace trace           # may become another one of the same rows, between steps
    cdef public bint catching_up        # everything is new: the reader was just installed
    cdef vector[Batch*] delta
    cdef vector[Batch*] history
    cdef int look(self, Region region) except -1 nogil
    # Whether the batches of before the activation are new as well, and whether the fresh one is.
    cdef bint sees_all(self, Region region) noexcept nogil
    cdef bint sees_fresh(self, Region region) noexcept nogil
    # Updates that are new, and all that the trace holds.
    cdef Py_ssize_t waiting(self, Region region) noexcept nogil
    cdef Py_ssize_t held(self) noexcept nogil
    # Whether the trace held anything before this activation.
    cdef bint remembers(self, Region region) noexcept nogil


# True for an output that one operator reads: it may take the updates away instead of copying them.
cdef inline bint read_alone(Operator source) noexcept nogil:
    return source.readers == 1


# Gives a large output back that one operator reads, and has read: so the next one can have its memory.
cdef inline void let_go(Operator source) noexcept nogil:
    if read_alone(source):
        release_large(&source.out)


# Lets an operator that `slices`, of several parts, take the next one; False if there is none.
cdef inline bint takes_part(Operator operator) noexcept nogil:
    return take_part(operator.shares, operator.shards, operator.shard, &operator.part)


# Where part `part` of so many begins among `n` things.
cdef inline Py_ssize_t first_of(Py_ssize_t n, int part, int parts) noexcept nogil:
    return n * part // parts


cdef inline void earlier(uint64_t* at, const uint64_t* candidate, int depth) noexcept nogil:
    cdef int i
    for i in range(1, depth):
        if candidate[i] != at[i]:
            break
    else:
        return
    if candidate[i] < at[i]:
        for i in range(1, depth):
            at[i] = candidate[i]
