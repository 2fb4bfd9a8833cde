"""Histories of states: for each key by how much the state of its group changes in each round of a loop.

Where values move in every round, as in PageRank, a history of values has two entries for each value and round,
and a sum over it at each round costs the square of the rounds. States add up (`ivm.operators.aggregates.linear`):
one entry for a round holds all that comes and goes in it, and the sum of a round is that of the round before and
this entry. Of values 5 and 7 in round 1 that become 6 and 7 in round 2 the entries are (round 1: 2 values, 12)
and (round 2: 0 values, +1).

A loop that is in no other is swept by round, and within a round by the root times of the step; so a key's sums
need not go back: one of the past, and one of the new input up to each root time. Once a step is over nobody tells
its root times apart, and the new input joins the past.
"""

from libc.stdint cimport int64_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ivm.memory.huge_pages cimport LARGE
from ivm.memory.slab cimport MOST_WORDS, Slab, adopt_chunks, release_chunks, room_for, take_words
from ivm.operators.aggregates.linear cimport Accumulation
from ivm.operators.base.state_table cimport ASKED, Groups
from ivm.operators.reductions.sorted_entries cimport (
    Entries, add_entry, entry_at, lower_bound, open_at, release_entries, widen,
)
from ivm.rows.updates cimport Updates, bytes_of, empty_bare, empty_updates, push, release, update_at
from ivm.trace.counts cimport add_to, negate
from ivm.trace.times cimport compare_words

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void*) noexcept nogil

cdef enum:
    STIR_WORDS = sizeof(Stir) // sizeof(uint64_t)
    KEPT_BYTES = 1 << 18    # of the slab, where there is no history
    KEPT_STIRS = 1 << 12    # after a step that touched more keys their room is given back
    AHEAD = 8               # stirs whose histories are prefetched before they are needed
    LARGE_SHARE = 8         # once one key in so many was touched all histories may be put side by side
    LINE = 8                # words of a line of the cache


cdef class StateHistories:
    """Holds histories of the states of `logic` by keys of `key_words` words, of which `strings` hold strings."""

    def __init__(self, int key_words, Accumulation logic, tuple strings):
        self.groups = Groups(key_words, sizeof(History) // sizeof(uint64_t), strings)
        self.logic = logic
        self.words = logic.state_words
        memset(&self.slab, 0, sizeof(Slab))
        self.stirs = empty_bare(STIR_WORDS, 0)
        self.answer = empty_updates(logic.out_words, 0)
        self.scratch.resize(max(self.words, logic.out_words) + 2, 0)
        self.records = self.room = 0
        self.settled = 0

    def __dealloc__(self):
        cdef uint32_t key
        cdef uint32_t place
        if self.groups is not None:
            for place in range(self.stirs.length):      # of a step that failed
                self._release_stir(stir_at(&self.stirs, place))
            for key in range(self.groups.length()):
                release_entries(&self.history(key).past, self.words + 1, &self.slab)
        release_chunks(&self.slab)
        release(&self.stirs)
        release(&self.answer)

    def account(self) -> tuple[int, int]:
        """Entries held and bytes of memory, as of the last step; it may be called beside one."""
        return self.records, self.groups.account()[1] + self.room

    cdef size_t held_bytes(self) noexcept nogil:
        return self.groups.room + self.slab.bytes + bytes_of(&self.stirs)

    cdef History* history(self, uint32_t key) noexcept nogil:
        return <History*> self.groups.state(key)

    # --- input ---

    cdef uint32_t touch(self, const uint64_t* key) except? 0xFFFFFFFF nogil:
        cdef uint32_t entry = self.groups.find(key)
        cdef History* history = self.history(entry)
        cdef Stir* stir
        if history.touched:
            return <uint32_t> history.touched - 1
        stir = <Stir*> push(&self.stirs)
        if stir == NULL:
            self._no_memory()
        memset(stir, 0, sizeof(Stir))
        stir.key = entry
        history.touched = self.stirs.length
        return <uint32_t> history.touched - 1

    cdef bint add(self, uint32_t place, const uint64_t* time, const uint64_t* value,
                  int64_t diff) except? -1 nogil:
        cdef Stir* stir = stir_at(&self.stirs, place)
        cdef int stride = self.words + 2
        cdef uint64_t* entry = entry_at(&stir.now, stir.last, stride)
        cdef bint late = time[0] < stir.reached, new = False
        cdef uint32_t at
        if stir.last >= stir.now.length or entry[0] != time[0] or entry[1] != time[1]:
            at = lower_bound(&stir.now, time, 2, stride)
            entry = entry_at(&stir.now, at, stride)
            new = at == stir.now.length or entry[0] != time[0] or entry[1] != time[1]
            if new:
                entry = self._new_entry(stir, at, time)
            stir.last = at
        self.logic.add(entry + 2, value, diff)
        if late:
            stir.taken += new
            at = self._sum_from(stir, time[1])
            for at in range(at, stir.sums.length):
                self.logic.add(entry_at(&stir.sums, at, self.words + 1) + 1, value, diff)
        return new or late

    cdef uint64_t* _new_entry(self, Stir* stir, uint32_t place, const uint64_t* time) except NULL nogil:
        cdef uint64_t* entry = open_at(&stir.now, place, self.words + 2, &self.slab)
        if entry == NULL:
            self._no_memory()
        entry[0] = time[0]
        entry[1] = time[1]
        memset(entry + 2, 0, self.words * sizeof(uint64_t))
        return entry

    # --- sums ---

    # Brings the sums up to `round`.
    cdef int _advance(self, Stir* stir, uint64_t round) except -1 nogil:
        cdef const Entries* past = &self.history(stir.key).past
        cdef const uint64_t* entry
        if stir.sums.length == 0:
            self._open_sums(stir)
        while stir.summed < past.length:
            entry = entry_at(past, stir.summed, self.words + 1)
            if entry[0] > round:
                break
            self.logic.merge(entry_at(&stir.sums, 0, self.words + 1) + 1, entry + 1)
            stir.summed += 1
        while stir.taken < stir.now.length:
            entry = entry_at(&stir.now, stir.taken, self.words + 2)
            if entry[0] > round:
                break
            self._take(stir, entry[1], entry + 2)
            stir.taken += 1
        stir.reached = round + 1
        return 0

    # Adds new input at `root` to the sums that it is in.
    cdef int _take(self, Stir* stir, uint64_t root, const uint64_t* state) except -1 nogil:
        cdef uint32_t first = self._sum_from(stir, root), i
        for i in range(first, stir.sums.length):
            self.logic.merge(entry_at(&stir.sums, i, self.words + 1) + 1, state)
        return 0

    # The first sum that new input at `root` is in: that of this root, which is made as the one before it.
    cdef uint32_t _sum_from(self, Stir* stir, uint64_t root) except 0 nogil:
        cdef int stride = self.words + 1
        cdef uint32_t place = self._sum_at(stir, root)
        cdef uint64_t* entry
        if place > 0 and entry_at(&stir.sums, place, stride)[0] == root:
            return place
        entry = open_at(&stir.sums, place + 1, stride, &self.slab)
        if entry == NULL:
            self._no_memory()
        if place > 0:
            memcpy(entry + 1, entry + 1 - stride, self.words * sizeof(uint64_t))
        else:
            memset(entry + 1, 0, self.words * sizeof(uint64_t))
        entry[0] = root
        return place + 1

    # The place of the last sum whose root is not after `root`; that of the past, 0, if there is none.
    cdef uint32_t _sum_at(self, const Stir* stir, uint64_t root) noexcept nogil:
        cdef uint32_t place = stir.sums.length - 1
        while place > 0 and entry_at(&stir.sums, place, self.words + 1)[0] > root:
            place -= 1
        return place

    # Makes the sum of the past, which is empty so far.
    cdef int _open_sums(self, Stir* stir) except -1 nogil:
        if widen(&stir.sums, 2, self.words + 1, &self.slab) < 0:
            self._no_memory()
        memset(stir.sums.words, 0, (self.words + 1) * sizeof(uint64_t))
        stir.sums.length = 1
        return 0

    cdef inline bint _is_zero(self, const uint64_t* state) noexcept nogil:
        cdef int i
        for i in range(self.words):
            if state[i] != 0:
                return False
        return True

    # --- output ---

    cdef int find_changes(self, uint32_t place, const uint64_t* time, Updates* changes) except -1 nogil:
        cdef Stir* stir = stir_at(&self.stirs, place)
        cdef const uint64_t* before
        cdef const uint64_t* added
        cdef const uint64_t* said
        cdef uint64_t* after = self.scratch.data()
        cdef uint64_t diff
        cdef uint32_t at, i
        self._advance(stir, time[0])
        changes.length = 0
        at = self._sum_at(stir, time[1])
        before = entry_at(&stir.sums, 0, self.words + 1) + 1
        added = entry_at(&stir.sums, at, self.words + 1) + 1
        if at > 0 and not self._is_zero(added):
            memcpy(after, before, self.words * sizeof(uint64_t))
            self.logic.merge(after, added)
            self._put(after, 1, changes)
            self._put(before, <uint64_t> -1, changes)
        for i in range(stir.said.length):
            said = entry_at(&stir.said, i, self.logic.out_words + 2)
            if said[0] <= time[1]:
                diff = said[self.logic.out_words + 1]
                negate(&diff)
                self._change(changes, said + 1, diff)
        return 0

    # Adds `diff` copies of the output of `state`, if it has any.
    cdef int _put(self, const uint64_t* state, uint64_t diff, Updates* changes) except -1 nogil:
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
            self._no_memory()
        memcpy(change, value, words * sizeof(uint64_t))
        change[words] = diff
        return 0

    cdef int say(self, uint32_t place, const uint64_t* time, const Updates* changes) except -1 nogil:
        cdef Stir* stir = stir_at(&self.stirs, place)
        cdef int words = self.logic.out_words
        cdef uint64_t* entry = self.scratch.data()
        cdef Py_ssize_t i
        entry[0] = time[1]
        for i in range(changes.length):
            memcpy(entry + 1, update_at(changes, i), (words + 1) * sizeof(uint64_t))
            if add_entry(&stir.said, entry, words + 2, &self.slab) < 0:
                self._no_memory()
        return 0

    cdef bint find_next(self, uint32_t place, uint64_t* time) noexcept nogil:
        cdef const Stir* stir = stir_at(&self.stirs, place)
        cdef const Entries* past = &self.history(stir.key).past
        cdef int stride = self.words + 1
        cdef uint32_t last = self._sum_at(stir, time[1]), i
        cdef bint settled = stir.said.length == 0
        if last + 1 < stir.sums.length:
            time[1] = entry_at(&stir.sums, last + 1, stride)[0]
            return True
        for i in range(1, stir.sums.length):
            settled &= self._is_zero(entry_at(&stir.sums, i, stride) + 1)
        if settled or stir.sums.length == 1 or stir.summed == past.length:
            return False
        time[0] = entry_at(past, stir.summed, stride)[0]
        time[1] = entry_at(&stir.sums, 1, stride)[0]
        return True

    # --- prefetches ---

    cdef void prefetch(self, const Updates* updates, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        cdef uint32_t entries[ASKED]
        cdef Py_ssize_t i
        for i in range(n):
            entries[i] = self.groups.prefetch_slot(update_at(updates, first + i))
        for i in range(n):
            entries[i] = self.groups.prefetch_entry(entries[i])
        for i in range(n):
            if entries[i] != 0 and self.history(entries[i] - 1).touched != 0:
                self.prefetch_stir(<uint32_t> self.history(entries[i] - 1).touched - 1)
        for i in range(n):
            if entries[i] != 0:
                self.prefetch_history(entries[i])

    cdef void prefetch_history(self, uint32_t entry) noexcept nogil:
        cdef const History* history = self.history(entry - 1)
        cdef const Stir* stir
        if history.touched != 0:
            stir = stir_at(&self.stirs, <uint32_t> history.touched - 1)
            prefetch(entry_at(&stir.now, stir.last, self.words + 2))

    cdef void prefetch_stir(self, uint32_t place) noexcept nogil:
        prefetch(stir_at(&self.stirs, place))
        prefetch(<uint64_t*> stir_at(&self.stirs, place) + LINE)

    cdef void prefetch_entries(self, uint32_t place) noexcept nogil:
        cdef const Stir* stir = stir_at(&self.stirs, place)
        prefetch(self.history(stir.key))
        prefetch(entry_at(&stir.now, stir.taken, self.words + 2))
        prefetch(stir.sums.words)
        prefetch(stir.sums.words + LINE)
        prefetch(stir.said.words)

    cdef void prefetch_past(self, uint32_t place) noexcept nogil:
        cdef const Stir* stir = stir_at(&self.stirs, place)
        prefetch(entry_at(&self.history(stir.key).past, stir.summed, self.words + 1))

    # --- the end of a step ---

    cdef int settle(self) except -1 nogil:
        cdef uint32_t i, touched = <uint32_t> self.stirs.length
        cdef Stir* stir
        cdef History* history
        for i in range(touched):
            if i + 2 * AHEAD < touched:
                self.prefetch_entries(i + 2 * AHEAD)
            if i + AHEAD < touched:
                prefetch(self.history(stir_at(&self.stirs, i + AHEAD).key).past.words)
            stir = stir_at(&self.stirs, i)
            history = self.history(stir.key)
            self.records -= history.past.length
            self._absorb(history, &stir.now)
            self.records += history.past.length
            self._release_stir(stir)
            history.touched = 0
            if history.past.length == 0:
                release_entries(&history.past, self.words + 1, &self.slab)
                self.groups.remove(stir.key)
        self.settled += touched
        if (self.slab.waiting > LARGE and 2 * self.slab.waiting > self.slab.bytes
                and LARGE_SHARE * self.settled >= self.groups.used):
            self._pack()
            self.settled = 0
        elif self.groups.used == 0 and self.slab.bytes > KEPT_BYTES:
            release_chunks(&self.slab)
        self.groups.shrink()
        self.room = self.slab.bytes
        self.stirs.length = 0
        if touched > KEPT_STIRS:
            release(&self.stirs)
        return 0

    cdef int _absorb(self, History* history, const Entries* now) except -1 nogil:
        cdef int stride = self.words + 1
        cdef uint32_t merged = self._merge(&history.past, now)
        if merged > history.past.capacity:
            history.past.length = 0     # it is in `scratch`
            if widen(&history.past, merged, stride, &self.slab) < 0:
                self._no_memory()
        if merged > 0:
            memcpy(history.past.words, self.scratch.data(), <size_t> merged * stride * sizeof(uint64_t))
        history.past.length = merged
        return 0

    # Merges the past and the new input into `scratch`; returns the number of entries.
    cdef uint32_t _merge(self, const Entries* past, const Entries* now) except? 0xFFFFFFFF nogil:
        cdef int stride = self.words + 1
        cdef uint32_t i = 0, j = 0, merged = 0
        cdef uint64_t round
        cdef uint64_t* target
        if self.scratch.size() < <size_t> (past.length + now.length) * stride:
            self.scratch.resize(<size_t> (past.length + now.length) * stride)
        while i < past.length or j < now.length:
            target = self.scratch.data() + <size_t> merged * stride
            if j == now.length or (
                    i < past.length and entry_at(past, i, stride)[0] <= entry_at(now, j, stride + 1)[0]):
                memcpy(target, entry_at(past, i, stride), stride * sizeof(uint64_t))
                i += 1
            else:
                target[0] = entry_at(now, j, stride + 1)[0]
                memcpy(target + 1, entry_at(now, j, stride + 1) + 2, self.words * sizeof(uint64_t))
                j += 1
            round = target[0]
            while j < now.length and entry_at(now, j, stride + 1)[0] == round:
                self.logic.merge(target + 1, entry_at(now, j, stride + 1) + 2)
                j += 1
            merged += not self._is_zero(target + 1)
        return merged

    cdef void _release_stir(self, Stir* stir) noexcept nogil:
        release_entries(&stir.now, self.words + 2, &self.slab)
        release_entries(&stir.sums, self.words + 1, &self.slab)
        release_entries(&stir.said, self.logic.out_words + 2, &self.slab)

    # Packs the histories side by side in as few chunks as they need, as far as there is memory for it.
    cdef void _pack(self) noexcept nogil:
        cdef Slab packed
        cdef Entries* past
        cdef uint64_t* words
        cdef size_t length
        cdef uint32_t key
        memset(&packed, 0, sizeof(Slab))
        for key in range(self.groups.length()):
            past = &self.history(key).past
            if past.length == 0 or <size_t> past.capacity * (self.words + 1) > MOST_WORDS:
                continue
            length = <size_t> past.length * (self.words + 1)
            words = take_words(&packed, length)
            if words == NULL:
                adopt_chunks(&self.slab, &packed)
                return
            memcpy(words, past.words, length * sizeof(uint64_t))
            past.words = words
            past.capacity = <uint32_t> (room_for(length) // (self.words + 1))
        release_chunks(&self.slab)
        adopt_chunks(&self.slab, &packed)

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for the histories of a reduction in a loop")
