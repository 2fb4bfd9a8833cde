"""State table: open addressing with linear probing; removal shifts entries back.

A slot holds the key's hash beside the entry's number, so that foreign entries are seldom read, and none at
all while slots move: a foreign entry is a cache miss. Many entries and slots lie in blocks on huge pages:
otherwise most look-ups in a large table would miss the address cache, too.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from ivm.rows.updates cimport Updates, copy_few, empty_updates, push, release, reserve
from ivm.trace.times cimport compare_words

cdef enum:
    FIRST_SLOTS = 64
    WORTH_SHRINKING = 1 << 12   # entries
    MOST_HOLES = 4              # entries for each that is used, from which on memory is given back


cdef extern from *:
    void prefetch "__builtin_prefetch"(const void*) noexcept nogil


cdef inline uint32_t _hash(const uint64_t* key, int n) noexcept nogil:
    cdef uint64_t h = 0x9E3779B97F4A7C15
    cdef int i
    for i in range(n):
        h = (h ^ key[i]) * <uint64_t> 0xD6E8FEB86659FD93
        h ^= h >> 32
    return <uint32_t> h


cdef class Groups:
    """A table of states of `state_words` words by keys of `key_words` words, of which `strings` hold
    strings.
    """

    def __init__(self, int key_words, int state_words, tuple strings):
        self.strings = strings
        self.key_words = key_words
        self.state_words = state_words
        self.stride = key_words + state_words
        self.rows = empty_updates(self.stride - 1, 0)
        self.slots = empty_updates(0, 0)
        self.grow(FIRST_SLOTS)

    def __dealloc__(self):
        release(&self.rows)
        release(&self.slots)

    def account(self) -> tuple[int, int]:
        """Groups held and bytes of memory; it may be called beside a step."""
        return self.used, self.room

    cdef inline void measure(self) noexcept nogil:
        self.room = (self.rows.capacity * self.stride + self.slots.capacity) * sizeof(uint64_t)

    cdef uint32_t length(self) noexcept nogil:
        return <uint32_t> self.rows.length

    cdef uint64_t* key(self, uint32_t entry) noexcept nogil:
        return self.rows.words + <size_t> entry * self.stride

    cdef uint64_t* state(self, uint32_t entry) noexcept nogil:
        return self.rows.words + <size_t> entry * self.stride + self.key_words

    # Finds the slot that holds `key`, or the empty one where it belongs.
    cdef size_t slot_of(self, const uint64_t* key, uint32_t hash) noexcept nogil:
        cdef size_t slot = hash & self.mask
        cdef const uint64_t* slots = self.slots.words
        while slots[slot] != 0 and (slots[slot] >> 32 != hash or compare_words(
                self.key(<uint32_t> slots[slot] - 1), key, self.key_words) != 0):
            slot = (slot + 1) & self.mask
        return slot

    cdef uint32_t look_up(self, const uint64_t* key) noexcept nogil:
        return <uint32_t> self.slots.words[self.slot_of(key, _hash(key, self.key_words))]

    cdef uint32_t prefetch_slot(self, const uint64_t* key) noexcept nogil:
        cdef uint32_t hash = _hash(key, self.key_words)
        prefetch(self.slots.words + (hash & self.mask))
        return hash

    cdef uint32_t prefetch_entry(self, uint32_t hash) noexcept nogil:
        cdef size_t slot = hash & self.mask
        cdef const uint64_t* slots = self.slots.words
        while slots[slot] != 0:
            if slots[slot] >> 32 == hash:
                self.prefetch_all(<uint32_t> slots[slot] - 1)
                return <uint32_t> slots[slot]
            slot = (slot + 1) & self.mask
        return 0

    # Prefetches an entry's first line and its last one: many lie in two.
    cdef inline void prefetch_all(self, uint32_t entry) noexcept nogil:
        prefetch(self.key(entry))
        prefetch(self.key(entry) + self.stride - 1)

    cdef void ask(self, const uint64_t* keys, Py_ssize_t stride, Py_ssize_t n) noexcept nogil:
        cdef uint32_t hashes[ASKED]
        cdef Py_ssize_t i
        for i in range(n):
            hashes[i] = self.prefetch_slot(keys + i * stride)
        for i in range(n):
            self.prefetch_entry(hashes[i])

    cdef uint32_t find(self, const uint64_t* key) except? 0xFFFFFFFF nogil:
        cdef uint32_t entry, hash = _hash(key, self.key_words)
        cdef size_t slot = self.slot_of(key, hash)
        if self.slots.words[slot] != 0:
            return <uint32_t> self.slots.words[slot] - 1
        if 4 * (self.used + 1) > 3 * (self.mask + 1):
            self.grow(2 * (self.mask + 1))
            slot = self.slot_of(key, hash)
        if self.holes.empty():
            entry = <uint32_t> self.rows.length
            if push(&self.rows) == NULL:
                self._no_memory()
            self.measure()
        else:
            entry = self.holes.back()
            self.holes.pop_back()
        copy_few(self.key(entry), key, self.key_words)
        memset(self.state(entry), 0, self.state_words * sizeof(uint64_t))
        self.slots.words[slot] = <uint64_t> hash << 32 | (entry + 1)
        self.used += 1
        return entry

    cdef int reserve(self, size_t more) except -1 nogil:
        if reserve(&self.rows, more - min(more, self.holes.size())) < 0:
            self._no_memory()
        self.reserve_slots(self.used + more)
        self.measure()
        return 0

    # Makes room for `keys` keys among the slots.
    cdef int reserve_slots(self, size_t keys) except -1 nogil:
        cdef size_t slots = self.mask + 1
        while 4 * keys > 3 * slots:
            slots *= 2
        if slots > self.mask + 1:
            self.grow(slots)
        return 0

    cdef uint64_t* append(self) except NULL nogil:
        cdef uint64_t* entry = push(&self.rows)
        if entry == NULL:
            self._no_memory()
        memset(entry, 0, self.stride * sizeof(uint64_t))
        return entry

    cdef int index(self) except -1 nogil:
        cdef uint32_t hashes[ASKED]
        cdef Py_ssize_t first = 0, n = self.rows.length, end, i
        self.reserve_slots(n)
        while first < n:
            end = min(n, first + ASKED)
            for i in range(first, end):
                hashes[i - first] = self.prefetch_slot(self.key(<uint32_t> i))
            for i in range(first, end):
                self.place(<uint64_t> hashes[i - first] << 32 | <uint64_t> (i + 1))
            first = end
        self.used = n
        self.measure()
        return 0

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for the states of groups")

    cdef int grow(self, size_t slots) except -1 nogil:
        cdef Updates old = self.slots, new = empty_updates(0, 0)
        cdef Py_ssize_t i
        if reserve(&new, slots) < 0:
            self._no_memory()
        new.length = slots
        memset(new.words, 0, slots * sizeof(uint64_t))
        self.slots = new
        self.mask = slots - 1
        for i in range(old.length):
            if old.words[i] != 0:
                self.place(old.words[i])
        release(&old)
        self.measure()
        return 0

    # Enters a slot's contents in a new slot; no slot holds its key yet.
    cdef inline void place(self, uint64_t held) noexcept nogil:
        cdef size_t slot = (held >> 32) & self.mask
        while self.slots.words[slot] != 0:
            slot = (slot + 1) & self.mask
        self.slots.words[slot] = held

    cdef bint shrink(self) noexcept nogil:
        cdef Updates rows = empty_updates(self.stride - 1, 0), slots = empty_updates(0, 0)
        cdef size_t wanted = FIRST_SLOTS
        cdef Py_ssize_t i
        cdef uint64_t held
        if self.rows.length < WORTH_SHRINKING or <size_t> self.rows.length < MOST_HOLES * self.used:
            return False
        while 4 * (self.used + 1) > 3 * wanted:
            wanted *= 2
        if reserve(&rows, self.used + 1) < 0 or reserve(&slots, wanted) < 0:
            release(&rows)
            return False
        memset(slots.words, 0, wanted * sizeof(uint64_t))
        slots.length = wanted
        self.rows, rows = rows, self.rows
        self.slots, slots = slots, self.slots
        self.mask = wanted - 1
        for i in range(slots.length):
            held = slots.words[i]
            if held != 0:
                memcpy(push(&self.rows), rows.words + <size_t> (<uint32_t> held - 1) * self.stride,
                       self.stride * sizeof(uint64_t))
                self.place(held >> 32 << 32 | <uint64_t> self.rows.length)
        release(&rows)
        release(&slots)
        self.holes = vector[uint32_t]()
        self.measure()
        return True

    cdef int remove(self, uint32_t entry) except -1 nogil:
        cdef size_t mask = self.mask
        cdef uint64_t* slots = self.slots.words
        cdef const uint64_t* key = self.key(entry)
        cdef size_t hole = self.slot_of(key, _hash(key, self.key_words)), slot, home
        slot = hole
        while True:
            slot = (slot + 1) & mask
            if slots[slot] == 0:
                break
            home = (slots[slot] >> 32) & mask
            if ((slot - home) & mask) >= ((slot - hole) & mask):
                slots[hole] = slots[slot]
                hole = slot
        slots[hole] = 0
        memset(self.key(entry), 0, self.stride * sizeof(uint64_t))
        self.holes.push_back(entry)
        self.used -= 1
        return 0
