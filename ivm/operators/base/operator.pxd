from libc.stdint cimport uint64_t
from libcpp.vector cimport vector

from ivm.operators.base.budget cimport Budget
from ivm.threads.work_stealing cimport Slice, take_part
from ivm.rows.updates cimport Updates, release_large
from ivm.trace.batch cimport Batch
from ivm.trace.times cimport MAX_COORDINATES
from ivm.trace.spine cimport Trace

cdef enum:
    KEPT_UPDATES = 1 << 14      # buffers up to this size are reused
    WORTH_SEEKING = 32          # look-ups of a shard for which a thread is worth waking
    WORTH_LOOKING = 1 << 16     # updates after which an operator at work looks at its budget


# A region is the position of one scope, the same for all its operators in all shards.
cdef class Region:
    cdef readonly int depth             # coordinates of its times: 1 at the root
    cdef uint64_t lower                 # no time of this activation has a smaller root coordinate
    cdef uint64_t upper                 # nor one that is not below this
    cdef uint64_t at[MAX_COORDINATES]   # the present round of each loop, from index 1 on
    cdef int weight                     # activations for which a timed one of few updates stands; 0: none is timed
    cdef void* budget                   # a Budget of all that runs here, borrowed, or NULL


# One shard of one operator, or the operator of all shards.
cdef class Operator:
    cdef Region region
    cdef Updates out                    # this activation's output; valid until the next one
    cdef bint consolidated              # it ascends, no (row, time) is there twice, and no diff is 0
    cdef int readers                    # operators that were made with this one as a source
    cdef int shard                      # the number of its shard,
    cdef int shards                     # of so many
    cdef int part                       # the number of its part of the new updates of traces,
    cdef int parts                      # of so many: see `ivm.threads.work_stealing`
    cdef Slice* shares                  # the parts that are for each shard, borrowed from the stage
    cdef bint parks                     # may hold updates back for later rounds
    cdef bint settles                   # does work at the end of a step
    cdef bint seeks                     # looks its input up in a state or a trace: some hundred
                                        # nanoseconds an update, where others take some ten
    cdef bint slices                    # takes any part of the new updates of traces, from one shard
                                        # or from all; one that seeks as well takes several (`takes_part`)
    cdef bint owns                      # takes those of the keys that its shard owns, since it keeps a state
    cdef bint keeps                     # the shards keep states of keys that `step_all` finds
    cdef Py_ssize_t unseen              # updates that it has made since it looked at its budget
    # Takes this activation's input and makes `out` anew.
    cdef int step(self) except -1 nogil
    # Of the first shard, if the operator `keeps`: takes the input of all `shards`, whichever owns it, and
    # puts out the output of all.
    cdef int step_all(self, const vector[void*]* shards) except -1 nogil
    # Before the shards step one by one: gives the first shard's input, if it is small, to the owners of its
    # keys.
    cdef int hand_out(self, const vector[void*]* shards) except -1 nogil
    # The number of updates that this activation left for the operators after it.
    cdef Py_ssize_t yields(self) noexcept nogil
    # True if it holds row errors that the runner has not taken.
    cdef bint troubled(self) noexcept nogil
    # Estimates the waiting input updates, and so whether threads are worth waking.
    cdef Py_ssize_t load(self) noexcept nogil
    # Estimates the output for its part of the new updates of traces, before it runs, by looking all of them
    # up.
    cdef Py_ssize_t foreseen(self) except -1 nogil
    # Lowers `at` to the earliest round for which this operator holds updates back; False if none.
    cdef bint parked(self, uint64_t* at) noexcept nogil
    # Drops the updates held back, after a loop was stopped.
    cdef void abandon(self) noexcept nogil
    # Gives large memory back after the last activation of a step or loop, once the output was read.
    cdef int rest(self) except -1 nogil
    # The bytes that it holds now, which grow with what it was given.
    cdef size_t held_bytes(self) noexcept nogil
    # Registers `evaluate` as a reader: an operator whose rows are evaluated may hand them over early.
    cdef void evaluated_by(self, Operator evaluate) noexcept
    # Ends a step, once: the operator's new input becomes history.
    cdef int settle(self) except -1 nogil


# A reader is an operator's view of a trace in this activation: the new updates, and the history.
cdef class Reader:
    cdef readonly Trace trace           # may become another one of the same rows, between steps
    cdef public bint catching_up        # everything is new: the reader was just installed
    cdef vector[Batch*] delta
    cdef vector[Batch*] history
    cdef int look(self, Region region) except -1 nogil
    # True if the batches from before the activation are new as well; and if the fresh batch is new.
    cdef bint sees_all(self, Region region) noexcept nogil
    cdef bint sees_fresh(self, Region region) noexcept nogil
    # The number of new updates, and of all updates in the trace.
    cdef Py_ssize_t waiting(self, Region region) noexcept nogil
    cdef Py_ssize_t held(self) noexcept nogil
    # True if the trace held updates before this activation.
    cdef bint remembers(self, Region region) noexcept nogil


# True for an output with a single reader, which may take the updates away instead of copying them.
cdef inline bint read_alone(Operator source) noexcept nogil:
    return source.readers == 1


# Looks at the region's budget, if it has one (raises BudgetExceeded).
cdef inline int look_at_budget(Region region) except -1 nogil:
    return 0 if region.budget == NULL else (<Budget> region.budget).look()


# Lets an operator that has made so many updates look at its budget now and then (raises BudgetExceeded).
cdef inline int spend(Operator operator, Py_ssize_t updates) except -1 nogil:
    operator.unseen += updates
    if operator.unseen < WORTH_LOOKING:
        return 0
    operator.unseen = 0
    return look_at_budget(operator.region)


# Gives back a large output that its single reader has read, so that the next output can have the memory.
cdef inline void let_go(Operator source) noexcept nogil:
    if read_alone(source):
        release_large(&source.out)


# Lets an operator that `slices`, of several parts, take the next one; False if there is none.
cdef inline bint takes_part(Operator operator) noexcept nogil:
    return take_part(operator.shares, operator.shards, operator.shard, &operator.part)


# The start of part `part` of `parts` among `n` items.
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
