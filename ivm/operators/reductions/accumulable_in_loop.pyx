"""Accumulable reduce in a loop: a group's output at every time at which it can change, by histories of states.

At time t a touched group emits Δ(t) = L(past + new, t) − L(past, t) − Σ_{s≤t} Δ(s), with L the output of the
state that its entries up to t add up to, as `ivm.operators.reductions.in_loop` does of values. Where the states
of a group differ from those of the past it is evaluated again when these change next.
"""

cimport cython
from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy
from libcpp.vector cimport vector

from ivm.operators.aggregates.linear cimport Accumulation
from ivm.operators.base.operator cimport Operator, Region, let_go
from ivm.operators.base.state_table cimport ASKED
from ivm.operators.reductions.histories cimport from_sweep, to_sweep
from ivm.operators.reductions.state_histories cimport StateHistories, Stir, stir_at
from ivm.operators.reductions.sweeping cimport Sweeping
from ivm.rows.hashing cimport Partitioner, owner_of
from ivm.rows.updates cimport Updates, bytes_of, empty_updates, push, release, update_at

cdef enum:
    DEPTH = 2           # coordinates of a time: the root, and a round
    FAR = 16            # touched keys that are prefetched before they are evaluated
    NEAR = 8            # and their entries
    NEXT = 4            # and those of the past


@cython.final
cdef class AccumulateInLoop(Sweeping):
    """Reduces each group of `source`, in a loop that is in no other, to key words and the output of `logic`.

    Rows of `source` are `key_words` words of key, then the logic's input value; `strings` are those of a row, as
    of a Trace. `partitioner` finds the owners of keys.
    """

    cdef readonly StateHistories histories
    cdef Accumulation logic
    cdef uint64_t visit             # counts the times that were evaluated
    cdef Updates changes            # changes that the output lacks at the time being evaluated

    def __init__(self, Region region, int row_words, Operator source, int key_words, Accumulation logic,
                 tuple strings, Partitioner partitioner):
        Sweeping.__init__(self, region, source, key_words, partitioner)
        if region.depth != DEPTH:
            raise ValueError(f"a loop in {region.depth - 2} others: states are summed in the order of its rounds")
        self.logic = logic
        self.histories = StateHistories(
            key_words, logic, tuple((word, flipped) for word, flipped in strings if word < key_words))
        self.visit = 0
        self.changes = empty_updates(logic.out_words, 0)

    def __dealloc__(self):
        release(&self.changes)

    @property
    def groups(self):
        """The table of keys."""
        return self.histories.groups

    cdef size_t held_bytes(self) noexcept nogil:
        return bytes_of(&self.out) + self.histories.held_bytes()

    cdef int settle(self) except -1 nogil:
        self.rest_agenda()
        return self.histories.settle()

    cdef int take_input(self) except -1 nogil:
        cdef const Updates* given = &self.source.out
        cdef Py_ssize_t i
        for i in range(given.length):
            if i % ASKED == 0 and given.length > 1:
                self.histories.prefetch(given, i, min(<Py_ssize_t> ASKED, given.length - i))
            self._take(update_at(given, i), given)
        let_go(self.source)
        return 0

    cdef int take_for_owners(self, const vector[void*]* shards) except -1 nogil:
        cdef const Updates* given = &self.source.out
        cdef const uint64_t* update
        cdef Py_ssize_t i
        for i in range(given.length):
            update = update_at(given, i)
            (<AccumulateInLoop> shards[0][owner_of(update, shards.size(), self.partitioner)])._take(update, given)
        self.source.out.length = 0      # an exchange, which has no other reader
        return 0

    # Adds an update to its key's history, and puts the key on the agenda.
    cdef inline int _take(self, const uint64_t* update, const Updates* given) except -1 nogil:
        cdef uint64_t time[DEPTH]
        cdef uint32_t place = self.histories.touch(update)
        to_sweep(update + given.row_words, time, DEPTH)
        if self.histories.add(place, time, update + self.key_words, <int64_t> update[given.stride - 1]):
            self.agenda.add(time, place)
        return 0

    cdef int evaluate_all(self, const uint64_t* time) except -1 nogil:
        cdef size_t i, n = self.places.size()
        cdef Stir* stir
        self.visit += 1
        for i in range(n):
            if i + FAR < n:
                self.histories.prefetch_stir(self.places[i + FAR])
            if i + NEAR < n:
                self.histories.prefetch_entries(self.places[i + NEAR])
            if i + NEXT < n:
                self.histories.prefetch_past(self.places[i + NEXT])
            stir = stir_at(&self.histories.stirs, self.places[i])
            if stir.visit != self.visit:
                stir.visit = self.visit
                self._evaluate(self.places[i], time)
        return 0

    cdef int _evaluate(self, uint32_t place, const uint64_t* time) except -1 nogil:
        cdef uint64_t next[DEPTH]
        self.histories.find_changes(place, time, &self.changes)
        if self.changes.length > 0:
            self._emit(place, time)
            self.histories.say(place, time, &self.changes)
        memcpy(next, time, DEPTH * sizeof(uint64_t))
        if self.histories.find_next(place, next):
            self.agenda.add(next, place)
        return 0

    # Emits `changes` at `time`.
    cdef int _emit(self, uint32_t place, const uint64_t* time) except -1 nogil:
        cdef const uint64_t* key = self.histories.groups.key(stir_at(&self.histories.stirs, place).key)
        cdef int words = self.logic.out_words
        cdef const uint64_t* change
        cdef uint64_t* update
        cdef Py_ssize_t i
        for i in range(self.changes.length):
            change = update_at(&self.changes, i)
            update = push(self.into)
            if update == NULL:
                with gil:
                    raise MemoryError("no memory for a reduction in a loop")
            memcpy(update, key, self.key_words * sizeof(uint64_t))
            memcpy(update + self.key_words, change, words * sizeof(uint64_t))
            from_sweep(time, update + self.out.row_words, DEPTH)
            update[self.out.stride - 1] = change[words]
        return 0
