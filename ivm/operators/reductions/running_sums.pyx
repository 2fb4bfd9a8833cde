"""Running sums of a key whose values move in many rounds: its history is walked once for all times of a step.

Where a group's value moves in each of R rounds, its history has entries in all of them. To accumulate the whole
history at each round costs R² entries; a sum of a round is the sum of the round before and what this round adds.
Linear aggregates have such sums (`ivm.operators.aggregates.linear`). A loop that is in no other is swept by
round, and within a round by root time, so that a key's entries come in the order of the sweep: with past entries
+5 in round 1 and −5 +7 in round 2, and +1 that root 9 adds in round 1, the states are 5, 6 in round 1 and 7, 8
in round 2: one without the new input, one for each root with it.

As `ivm.operators.reductions.in_loop` says, Δ(t) = L(past + new, t) − L(past, t) − Σ_{s≤t} Δ(s). The last sum is
kept as one for each root: what was said in earlier rounds counts in all later ones, and mostly cancels.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcmp, memcpy, memset

from ivm.operators.reductions.histories cimport Touch, touch_at
from ivm.operators.reductions.sorted_entries cimport (
    Entries, add_entry, entry_at, open_at, release_entries, widen,
)
from ivm.rows.updates cimport Updates, empty_updates, push, release, reserve, update_at
from ivm.trace.counts cimport add_to, negate
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.times cimport compare_words

cdef enum:
    ORDER_WORDS = 2


cdef class RunningSums:
    """Sums the groups of `curves`, histories in a loop of depth two, by `logic`."""

    def __init__(self, Accumulation logic, Curves curves):
        self.logic = logic
        self.curves = curves
        self.scratch = empty_updates(ORDER_WORDS, 0)
        self.answer = empty_updates(logic.out_words, 0)
        self.entry.resize(logic.out_words + 2, 0)

    def __dealloc__(self):
        if self.curves is not None:
            self.clear()
        release(&self.scratch)
        release(&self.answer)

    cdef int begin(self, uint32_t place) except -1 nogil:
        cdef Touch* touch = touch_at(&self.curves.touches, place)
        cdef const Entries* past = &self.curves.curve(touch.key).past
        cdef int words = self.logic.out_words
        cdef uint64_t* entry = self.entry.data()
        cdef const uint64_t* said
        cdef Sums sums
        cdef uint32_t i
        memset(&sums, 0, sizeof(Sums))
        self.sums.push_back(sums)
        touch.sums = <uint32_t> self.sums.size()
        self._sort(past, &self.sums.back().order)
        self.open(&self.sums.back())
        for i in range(touch.said.length):
            said = entry_at(&touch.said, i, self.curves.said_stride)
            entry[0] = said[words + 1]
            memcpy(entry + 1, said, words * sizeof(uint64_t))
            entry[words + 1] = said[self.curves.said_stride - 1]
            if add_entry(&self.sums.back().said, entry, words + 2, &self.curves.slab) < 0:
                self.no_memory()
        return 0

    # Lists the entries by their rounds.
    cdef int _sort(self, const Entries* past, Entries* order) except -1 nogil:
        cdef uint64_t* update
        cdef Py_ssize_t i
        self.scratch.length = 0
        if past.length == 0:
            return 0
        if (reserve(&self.scratch, past.length) < 0
                or widen(order, past.length, ORDER_WORDS, &self.curves.slab) < 0):
            self.no_memory()
        for i in range(past.length):
            update = push(&self.scratch)
            update[0] = entry_at(past, <uint32_t> i, self.curves.stride)[self.curves.words]
            update[1] = <uint64_t> i
            update[2] = 1
        if consolidate(&self.scratch) < 0:
            self.no_memory()
        for i in range(self.scratch.length):
            memcpy(order.words + i * ORDER_WORDS, update_at(&self.scratch, i), ORDER_WORDS * sizeof(uint64_t))
        order.length = past.length
        return 0

    # Brings the states up to `round`.
    cdef int advance(self, uint32_t place, uint64_t round) except -1 nogil:
        cdef Touch* touch = touch_at(&self.curves.touches, place)
        cdef Sums* sums = &self.sums[touch.sums - 1]
        cdef const Entries* past = &self.curves.curve(touch.key).past
        cdef int words = self.curves.words, stride = self.curves.stride
        cdef const uint64_t* entry
        cdef uint64_t* late
        cdef uint32_t i = 0
        while sums.next < sums.order.length and entry_at(&sums.order, sums.next, ORDER_WORDS)[0] <= round:
            entry = entry_at(past, <uint32_t> entry_at(&sums.order, sums.next, ORDER_WORDS)[1], stride)
            self.take(sums, entry, 0)
            sums.next += 1
        while i < sums.late.length:
            late = entry_at(&sums.late, i, 1)
            entry = entry_at(&touch.now, <uint32_t> late[0], stride)
            if entry[words] > round:
                i += 1
                continue
            self.take(sums, entry, self.new_from(sums, entry))
            sums.late.length -= 1
            late[0] = entry_at(&sums.late, sums.late.length, 1)[0]
        while sums.taken < touch.now.length:
            entry = entry_at(&touch.now, sums.taken, stride)
            if entry[words] <= round:
                self.take(sums, entry, self.new_from(sums, entry))
            else:
                late = open_at(&sums.late, sums.late.length, 1, &self.curves.slab)
                if late == NULL:
                    self.no_memory()
                late[0] = sums.taken
            sums.taken += 1
        return 0

    # Adds an entry to the states from the `first` on.
    cdef int take(self, Sums* sums, const uint64_t* entry, uint32_t first) except -1 nogil:
        cdef int64_t diff = <int64_t> entry[self.curves.stride - 1]
        cdef uint32_t i
        for i in range(first, sums.states.length):
            self.logic.add(entry_at(&sums.states, i, self.logic.state_words + 1), entry, diff)
        return 0

    # The first state that a new entry is in: that of its root, which is made as the one before it.
    cdef uint32_t new_from(self, Sums* sums, const uint64_t* entry) except 0 nogil:
        cdef int words = self.logic.state_words
        cdef uint64_t root = entry[self.curves.stride - 2]
        cdef uint32_t place = self.state_at(sums, root)
        cdef uint64_t* state
        if place > 0 and entry_at(&sums.states, place, words + 1)[words] == root:
            return place
        state = open_at(&sums.states, place + 1, words + 1, &self.curves.slab)
        if state == NULL:
            self.no_memory()
        memcpy(state, state - (words + 1), words * sizeof(uint64_t))
        state[words] = root
        return place + 1

    # Makes the state of the past, which is empty so far.
    cdef int open(self, Sums* sums) except -1 nogil:
        cdef int words = self.logic.state_words
        if widen(&sums.states, 2, words + 1, &self.curves.slab) < 0:
            self.no_memory()
        memset(sums.states.words, 0, (words + 1) * sizeof(uint64_t))
        sums.states.length = 1
        return 0

    # The place of the last state whose root is not after `root`; that of the past, 0, if there is none.
    cdef uint32_t state_at(self, const Sums* sums, uint64_t root) noexcept nogil:
        cdef int words = self.logic.state_words
        cdef uint32_t place = sums.states.length - 1
        while place > 0 and entry_at(&sums.states, place, words + 1)[words] > root:
            place -= 1
        return place

    cdef int find_changes(self, uint32_t place, const uint64_t* time, Updates* changes) except -1 nogil:
        cdef Sums* sums
        cdef int words = self.logic.out_words, state_words = self.logic.state_words
        cdef const uint64_t* after
        cdef const uint64_t* said
        cdef uint64_t diff
        cdef uint32_t i
        self.advance(place, time[0])
        sums = &self.sums[touch_at(&self.curves.touches, place).sums - 1]
        changes.length = 0
        after = entry_at(&sums.states, self.state_at(sums, time[1]), state_words + 1)
        if memcmp(after, sums.states.words, state_words * sizeof(uint64_t)) != 0:
            self.put(after, 1, changes)
            self.put(sums.states.words, <uint64_t> -1, changes)
        for i in range(sums.said.length):
            said = entry_at(&sums.said, i, words + 2)
            if said[0] <= time[1]:
                diff = said[words + 1]
                negate(&diff)
                self._change(changes, said + 1, diff)
        return 0

    # Adds `diff` copies of the output of `state`, if it has any.
    cdef int put(self, const uint64_t* state, uint64_t diff, Updates* changes) except -1 nogil:
        self.answer.length = 0
        self.logic.put(state, &self.answer)
        if self.answer.length > 0:
            self._change(changes, self.answer.words, diff)
        return 0

    # Adds `diff` copies of a value to the changes, which are few.
    cdef int _change(self, Updates* changes, const uint64_t* value, uint64_t diff) except -1 nogil:
        cdef int words = self.logic.out_words
        cdef uint64_t* change
        cdef Py_ssize_t i
        for i in range(changes.length):
            change = update_at(changes, i)
            if compare_words(change, value, words) != 0:
                continue
            add_to(&change[words], diff)
            if change[words] == 0:
                changes.length -= 1
                memcpy(change, update_at(changes, changes.length), changes.stride * sizeof(uint64_t))
            return 0
        change = push(changes)
        if change == NULL:
            self.no_memory()
        memcpy(change, value, words * sizeof(uint64_t))
        change[words] = diff
        return 0

    cdef int say(self, uint32_t place, const uint64_t* time, const Updates* changes) except -1 nogil:
        cdef Sums* sums = &self.sums[touch_at(&self.curves.touches, place).sums - 1]
        cdef int words = self.logic.out_words
        cdef uint64_t* entry = self.entry.data()
        cdef Py_ssize_t i
        entry[0] = time[1]
        for i in range(changes.length):
            memcpy(entry + 1, update_at(changes, i), (words + 1) * sizeof(uint64_t))
            if add_entry(&sums.said, entry, words + 2, &self.curves.slab) < 0:
                self.no_memory()
        return 0

    cdef bint find_next(self, uint32_t place, uint64_t* candidate) noexcept nogil:
        cdef Sums* sums = &self.sums[touch_at(&self.curves.touches, place).sums - 1]
        cdef int words = self.logic.state_words, stride = words + 1
        cdef uint32_t last = self.state_at(sums, candidate[1]), i
        cdef bint settled = sums.said.length == 0
        if last + 1 < sums.states.length:
            candidate[1] = entry_at(&sums.states, last + 1, stride)[words]
            return True
        for i in range(1, sums.states.length):
            settled &= memcmp(entry_at(&sums.states, i, stride), sums.states.words,
                              words * sizeof(uint64_t)) == 0
        if settled or sums.states.length == 1 or sums.next == sums.order.length:
            return False
        candidate[0] = entry_at(&sums.order, sums.next, ORDER_WORDS)[0]
        candidate[1] = entry_at(&sums.states, 1, stride)[words]
        return True

    cdef void clear(self) noexcept nogil:
        cdef int words = self.logic.state_words
        cdef size_t i
        for i in range(self.sums.size()):
            release_entries(&self.sums[i].order, ORDER_WORDS, &self.curves.slab)
            release_entries(&self.sums[i].late, 1, &self.curves.slab)
            release_entries(&self.sums[i].states, words + 1, &self.curves.slab)
            release_entries(&self.sums[i].said, self.logic.out_words + 2, &self.curves.slab)
        self.sums.clear()
        release(&self.scratch)

    cdef int no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for the sums of a reduction in a loop")
