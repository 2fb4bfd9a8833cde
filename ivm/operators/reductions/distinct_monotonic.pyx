"""Monotonic distinct: the set of known rows of a collection that only grows.

A row is new once, at its least root time, and is never retracted: neither its count nor its history is
needed. This is semi-naive evaluation, and the meaning of a diff `Present` in differential dataflow. It holds
inside a loop whose bodies only grow: their least fixed point is reached in whatever order rows are derived,
so a row is passed on in the round in which it is found.

A step has many root times at once: a row may be found at time t2 and, in a later round, at t1 < t2. It then
moves: the output changes by +1 at t1 and by -1 at t2. Operators after it stay exact. A retraction that comes
back round the loop is of a row that has moved as well, and is ignored: members of a derivation are all
present at the time at which it is derived. Rows of earlier steps cannot move, so the time of a row is kept
for one step only.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.base.state_table cimport ASKED, Groups
from ivm.operators.base.operator cimport Operator, Region
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.rows.updates cimport Updates, bytes_of, push, update_at

cdef enum:
    KEPT_TIMES = 1 << 14

cdef uint64_t NEVER = 0xFFFFFFFFFFFFFFFF


cdef class DistinctMonotonic(Operator):
    """Emits each row of `source` once, from its least root time on; `strings` are a row's, as of a Trace.

    `source` holds no retraction but of rows that move to an earlier time within a step. `partitioner` finds
    the owners of rows, whose shards keep them.
    """

    cdef Operator source
    cdef Partitioner partitioner
    cdef readonly Groups groups     # the rows, as keys without a state
    cdef uint64_t present           # the lower bound of the step that `since` belongs to
    cdef uint32_t before            # rows that were known before this step: entries below it
    cdef vector[uint64_t] since     # the root times of the others, by entry

    def __init__(self, Region region, int row_words, Operator source, tuple strings,
                 Partitioner partitioner):
        self.seeks = self.keeps = True
        self.source = source
        self.partitioner = partitioner
        self.groups = Groups(row_words, 0, strings)
        self.present = NEVER
        self.before = 0

    cdef Py_ssize_t load(self) noexcept nogil:
        return self.source.out.length

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.out) + self.groups.room + self.since.capacity() * sizeof(uint64_t)

    cdef int step(self) except -1 nogil:
        cdef const Updates* given = &self.source.out
        cdef Py_ssize_t i
        cdef const uint64_t* update
        self.out.length = 0
        for i in range(given.length):
            update = update_at(given, i)
            if i % ASKED == 0 and given.length > 1:
                self.groups.ask(update, given.stride, min(<Py_ssize_t> ASKED, given.length - i))
            self._take(update, given, &self.out)
        return 0

    cdef int step_all(self, const vector[void*]* shards) except -1 nogil:
        cdef size_t s
        for s in range(shards.size()):
            self._take_for_owners(&(<DistinctMonotonic> shards[0][s]).source.out, shards)
        return 0

    cdef int _take_for_owners(self, const Updates* given, const vector[void*]* shards) except -1 nogil:
        cdef void* owners[ASKED]
        cdef uint32_t hashes[ASKED]
        cdef Py_ssize_t first = 0, i, n
        while first < given.length:
            n = min(<Py_ssize_t> ASKED, given.length - first)
            for i in range(n):
                owners[i] = shards[0][owner_of(update_at(given, first + i), shards.size(),
                                               self.partitioner)]
                hashes[i] = (<DistinctMonotonic> owners[i]).groups.prefetch_slot(update_at(given, first + i))
            for i in range(n if n > 1 else 0):
                (<DistinctMonotonic> owners[i]).groups.prefetch_entry(hashes[i])
            for i in range(n):
                (<DistinctMonotonic> owners[i])._take(update_at(given, first + i), given, &self.out)
            first += n
        return 0

    # Takes one update, and appends a new row to `into`.
    cdef int _take(self, const uint64_t* update, const Updates* given, Updates* into) except -1 nogil:
        cdef uint64_t time = update[given.row_words]
        cdef uint32_t entry
        if <int64_t> update[given.stride - 1] <= 0:
            return 0
        self._begin()
        entry = self.groups.find(update)
        if entry < self.before:
            return 0
        entry -= self.before
        if entry == self.since.size():
            self.since.push_back(time)
            self._emit(update, time, 1, into)
        elif time < self.since[entry]:
            self._emit(update, time, 1, into)
            self._emit(update, self.since[entry], -1, into)
            self.since[entry] = time
        return 0

    # Drops the times of the step before, once in a step.
    cdef int _begin(self) except -1 nogil:
        if self.present != self.region.lower:
            self.present = self.region.lower
            self.before = self.groups.length()
            self.since.clear()
            if self.since.capacity() > KEPT_TIMES:
                self.since.shrink_to_fit()
        return 0

    cdef int _emit(self, const uint64_t* row, uint64_t time, int64_t diff,
                   Updates* into) except -1 nogil:
        cdef uint64_t* update = push(into)
        if update == NULL:
            with gil:
                raise MemoryError("no memory for distinct rows")
        memcpy(update, row, into.row_words * sizeof(uint64_t))
        update += into.row_words
        update[0] = time
        memcpy(update + 1, self.region.at + 1, (into.time_words - 1) * sizeof(uint64_t))
        update[into.time_words] = <uint64_t> diff
        return 0
