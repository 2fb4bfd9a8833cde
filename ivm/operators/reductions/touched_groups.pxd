from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Operator, Reader
from ivm.rows.hashing cimport Partitioner
from ivm.trace.batch cimport Batch, diff_of, first_update, time_of
from ivm.trace.counts cimport sum_of

# A run is part of one batch: a key's values from `val` to `end`.
cdef struct Run:
    const Batch* batch
    Py_ssize_t val
    Py_ssize_t end
    bint is_new         # from the reader's delta


# An operator at the root that evaluates the whole group of every touched key.
cdef class TouchedGroups(Operator):
    cdef readonly Reader reader
    cdef Partitioner partitioner        # finds this shard's keys
    cdef const vector[void*]* everyone  # all shards, while this one takes all keys; else NULL
    cdef vector[Py_ssize_t] at          # in each new batch: keys before are taken, or of other shards
    cdef Py_ssize_t count               # of the next keys, GROUP at most
    cdef vector[uint64_t] keys          # those
    cdef vector[Py_ssize_t] news        # GROUP positions in each new batch, -1 where one is not there
    cdef vector[Py_ssize_t] positions   # in each history batch
    cdef vector[Py_ssize_t] places      # and GROUP positions in each of these
    cdef vector[Run] runs               # of the present key
    cdef Py_ssize_t size                # values of those runs together
    cdef vector[uint64_t] times         # the present key's new times, ascending
    # Emits the changes of `key`, which is the present one.
    cdef int change_key(self, const uint64_t* key) except -1 nogil
    cdef void find_keys(self) noexcept nogil
    cdef bint is_probed(self, const Batch* b) noexcept nogil
    cdef void find_places(self) noexcept nogil
    cdef int open_key(self, Py_ssize_t i) except -1 nogil
    cdef int add_run(self, const Batch* b, Py_ssize_t k, bint is_new) except -1 nogil
    cdef int find_times(self) except -1 nogil


# Adds the run's diffs of its present value: to `old` those before `time`, to `new` those up to it.
# New times below `lower` count as `lower`.
cdef inline void add_counts(const Run* run, uint64_t time, uint64_t lower, int64_t* old,
                            int64_t* new) noexcept nogil:
    cdef Py_ssize_t u
    cdef uint64_t at
    cdef int64_t diff
    for u in range(first_update(run.batch, run.val), first_update(run.batch, run.val + 1)):
        diff = diff_of(run.batch, u)
        at = max(time_of(run.batch, u)[0], lower) if run.is_new else 0
        if not run.is_new or at < time:
            old[0] = sum_of(old[0], diff)
        if not run.is_new or at <= time:
            new[0] = sum_of(new[0], diff)
