"""Histories are the state of a reduce in a loop: for each key its input by value and time.

Only the reduce reads them, so they are a hash table of small sorted histories and not a trace: a change costs
one look-up however old the key is. A step's updates stay separate until its end, when they join the past. No
reader tells the root times of the past from each other any more, so all of it lies at root 0, where entries
cancel: of +1 at (3, 1) and −1 at (5, 1) nothing is left. Times lie in the order in which a loop is swept
(inner coordinates first, the root last), so that this keeps a history sorted.

A history is a sorted array. Many new entries of a key are sorted at once when the key is evaluated, and join
the past in one merge: so a step moves a hot key's history once, however many changes of it there are.
"""

from libc.stdint cimport uint32_t, uint64_t
from libc.string cimport memcpy, memset

from ivm.operators.reductions.sorted_entries cimport (
    Entries,
    add_entry,
    entry_at,
    lower_bound,
    merge_entries,
    open_at,
    release_entries,
    widen,
)
from ivm.operators.base.state_table cimport Groups
from ivm.memory.slab cimport MOST_WORDS, Slab, adopt_chunks, release_chunks, room_for, take_words
from ivm.memory.huge_pages cimport LARGE
from ivm.rows.updates cimport (
    Updates, append, bytes_of, empty_bare, empty_updates, push, release, reserve, update_at,
)
from ivm.trace.sorting.sort cimport consolidate
from ivm.trace.counts cimport add_to
from ivm.trace.times cimport compare_words, join_into

cdef extern from *:
    void prefetch "__builtin_prefetch"(const void*) noexcept nogil

cdef enum:
    TOUCH_WORDS = sizeof(Touch) // sizeof(uint64_t)
    AXIS_WORDS = 4          # axis, coordinate, least coordinate on the other axis, 0
    KEPT_BYTES = 1 << 18    # of the slab, where there is no history
    KEPT_TOUCHES = 1 << 12  # after a step that touched more keys their room is given back
    MANY = 64               # new entries of a key, from which on those out of order wait in a tail
    FEW = 4                 # entries up to which inserting each beats a merge
    AHEAD = 8               # touches whose histories are prefetched before they are needed
    LARGE_SHARE = 8         # once one key in so many was touched all histories may be put side by side


cdef class Curves:
    """Holds histories of keys of `key_words` words with values of `words` words and times of `time_words`.

    The output's values have `said_words` words. `strings` lists the words of (key, value) that hold strings,
    as of a Trace.
    """

    def __init__(self, int key_words, int words, int said_words, int time_words, tuple strings):
        keys = tuple((word, flipped) for word, flipped in strings if word < key_words)
        self.strings = tuple((word - key_words, flipped) for word, flipped in strings
                             if word >= key_words)
        self.groups = Groups(key_words, sizeof(Curve) // sizeof(uint64_t), keys)
        self.time_words = time_words
        self.words = words
        self.stride = words + time_words + 1
        self.said_stride = said_words + time_words + 1
        memset(&self.slab, 0, sizeof(Slab))
        self.touches = empty_bare(TOUCH_WORDS + time_words, 0)
        self.tail = empty_updates(words, time_words)
        self.records = self.room = 0
        self.settled = 0

    def __dealloc__(self):
        cdef uint32_t key
        cdef uint32_t place
        if self.groups is not None:
            for place in range(self.touches.length):    # of a step that failed
                self._release_touch(touch_at(&self.touches, place))
            for key in range(self.groups.length()):
                release_entries(&self.curve(key).past, self.stride, &self.slab)
        release_chunks(&self.slab)
        release(&self.touches)
        release(&self.tail)

    def account(self) -> tuple[int, int]:
        """Updates held and bytes of memory, as of the last step; it may be called beside one."""
        return self.records, self.groups.account()[1] + self.room

    cdef size_t held_bytes(self) noexcept nogil:
        return self.groups.room + self.slab.bytes + bytes_of(&self.touches)

    cdef Curve* curve(self, uint32_t key) noexcept nogil:
        return <Curve*> self.groups.state(key)

    cdef void prefetch(self, const Updates* updates, Py_ssize_t first, Py_ssize_t n) noexcept nogil:
        cdef uint32_t places[PREFETCHED]
        cdef Py_ssize_t i
        for i in range(n):
            places[i] = self.groups.prefetch_slot(update_at(updates, first + i))
        for i in range(n):
            places[i] = self.groups.prefetch_entry(places[i])
        for i in range(n):
            if places[i] != 0:
                places[i] = self.prefetch_touched(places[i])
        for i in range(n):
            if places[i] != 0:
                self.prefetch_now(places[i] - 1)

    cdef uint32_t prefetch_touched(self, uint32_t entry) noexcept nogil:
        cdef const Curve* curve = self.curve(entry - 1)
        cdef uint32_t place = <uint32_t> curve.touched
        if place != 0:
            self.prefetch_touch(place - 1)
        else:
            prefetch(curve.past.words)
        return place

    cdef void prefetch_touch(self, uint32_t place) noexcept nogil:
        prefetch(touch_at(&self.touches, place))
        prefetch(self.bound(place) + self.time_words - 1)

    cdef void prefetch_now(self, uint32_t place) noexcept nogil:
        prefetch(touch_at(&self.touches, place).now.words)

    cdef void prefetch_histories(self, uint32_t place) noexcept nogil:
        cdef const Touch* touch = touch_at(&self.touches, place)
        prefetch(self.curve(touch.key))
        prefetch(touch.now.words)
        prefetch(touch.said.words)

    cdef void prefetch_past(self, uint32_t place) noexcept nogil:
        cdef const Touch* touch = touch_at(&self.touches, place)
        prefetch(self.curve(touch.key).past.words)
        prefetch(touch.axes.words)

    cdef uint64_t* bound(self, uint32_t place) noexcept nogil:
        return update_at(&self.touches, place) + TOUCH_WORDS

    cdef int expect(self, size_t keys) except -1 nogil:
        if keys > self.groups.used:
            self.groups.reserve(keys - self.groups.used)
        if reserve(&self.touches, keys) < 0:
            self._no_memory()
        return 0

    cdef uint32_t touch(self, const uint64_t* key) except? 0xFFFFFFFF nogil:
        cdef uint32_t entry = self.groups.find(key), place, i
        cdef Curve* curve = self.curve(entry)
        cdef Touch* touch
        if curve.touched:
            return <uint32_t> curve.touched - 1
        touch = <Touch*> push(&self.touches)
        if touch == NULL:
            self._no_memory()
        memset(touch, 0, self.touches.stride * sizeof(uint64_t))
        touch.key = entry
        curve.touched = self.touches.length
        place = <uint32_t> curve.touched - 1
        for i in range(curve.past.length):
            join_into(self.bound(place), entry_at(&curve.past, i, self.stride) + self.words,
                      self.time_words)
        return place

    cdef int make_room(self, uint32_t place, Py_ssize_t more) except -1 nogil:
        cdef Entries* now = &touch_at(&self.touches, place).now
        cdef Py_ssize_t wanted = now.length + more
        if wanted > now.capacity and widen(now, <uint32_t> wanted, self.stride, &self.slab) < 0:
            self._no_memory()
        return 0

    cdef int add(self, uint32_t place, const uint64_t* entry) except -1 nogil:
        cdef Touch* touch = touch_at(&self.touches, place)
        cdef const uint64_t* time = entry + self.words
        cdef uint32_t n = touch.now.length
        cdef uint64_t* last
        if n < MANY:
            if add_entry(&touch.now, entry, self.stride, &self.slab) < 0:
                self._no_memory()
            touch.ordered = touch.now.length
        else:
            last = open_at(&touch.now, n, self.stride, &self.slab)
            if last == NULL:
                self._no_memory()
            memcpy(last, entry, self.stride * sizeof(uint64_t))
            if touch.ordered == n and compare_words(
                    last - self.stride, entry, self.stride - 1) < 0:
                touch.ordered = n + 1
        join_into(self.bound(place), time, self.time_words)
        if touch.axes.length > 0:
            self._note_axes(touch, time)
        return 0

    cdef int order(self, uint32_t place) except -1 nogil:
        cdef Touch* touch = touch_at(&self.touches, place)
        cdef uint32_t n = touch.now.length - touch.ordered
        if n == 0:
            return 0
        self.tail.length = 0
        if append(&self.tail, entry_at(&touch.now, touch.ordered, self.stride), n) < 0:
            self._no_memory()
        if consolidate(&self.tail) < 0:
            self._no_memory()
        touch.now.length = touch.ordered
        self._merge(&touch.now, self.tail.words, <uint32_t> self.tail.length)
        touch.ordered = touch.now.length
        return 0

    # Adds `n` entries that ascend.
    cdef int _merge(self, Entries* into, const uint64_t* added, uint32_t n) except -1 nogil:
        cdef uint32_t i
        if n > FEW:
            if merge_entries(into, added, n, self.stride, &self.slab) < 0:
                self._no_memory()
            return 0
        for i in range(n):
            if add_entry(into, added + <size_t> i * self.stride, self.stride, &self.slab) < 0:
                self._no_memory()
        return 0

    cdef int find_axes(self, uint32_t place) except -1 nogil:
        cdef Touch* touch = touch_at(&self.touches, place)
        cdef Curve* curve = self.curve(touch.key)
        cdef uint32_t i
        if touch.axes.length > 0:
            return 0
        for i in range(curve.past.length):
            self._note_axes(touch, entry_at(&curve.past, i, self.stride) + self.words)
        for i in range(touch.now.length):
            self._note_axes(touch, entry_at(&touch.now, i, self.stride) + self.words)
        return 0

    # Notes a time's coordinates on all inner axes.
    cdef int _note_axes(self, Touch* touch, const uint64_t* time) except -1 nogil:
        cdef uint64_t wanted[AXIS_WORDS]
        cdef uint64_t* found
        cdef uint32_t place
        cdef int d
        for d in range(self.time_words - 1):
            wanted[0] = d
            wanted[1] = time[d]
            wanted[2] = time[1 - d] if self.time_words == 3 else 0
            wanted[3] = 0
            place = lower_bound(&touch.axes, wanted, 2, AXIS_WORDS)
            found = entry_at(&touch.axes, place, AXIS_WORDS)
            if place < touch.axes.length and compare_words(found, wanted, 2) == 0:
                found[2] = min(found[2], wanted[2])
                continue
            found = open_at(&touch.axes, place, AXIS_WORDS, &self.slab)
            if found == NULL:
                self._no_memory()
            memcpy(found, wanted, sizeof(wanted))
        return 0

    cdef int say(self, uint32_t place, const uint64_t* entry) except -1 nogil:
        if add_entry(&touch_at(&self.touches, place).said, entry, self.said_stride, &self.slab) < 0:
            self._no_memory()
        return 0

    cdef int settle(self) except -1 nogil:
        cdef uint32_t i, touched = <uint32_t> self.touches.length
        cdef Touch* touch
        cdef Curve* curve
        for i in range(touched):
            if i + AHEAD < touched:
                self.prefetch_histories(i + AHEAD)
            touch = touch_at(&self.touches, i)
            curve = self.curve(touch.key)
            self.records -= curve.past.length
            self.order(i)
            self._absorb(curve, &touch.now)
            self.records += curve.past.length
            self._release_touch(touch)
            curve.touched = 0
            if curve.past.length == 0:
                release_entries(&curve.past, self.stride, &self.slab)
                self.groups.remove(touch.key)
        self.settled += touched
        if (self.slab.waiting > LARGE and 2 * self.slab.waiting > self.slab.bytes
                and LARGE_SHARE * self.settled >= self.groups.used):
            self._pack()
            self.settled = 0
        elif self.groups.used == 0 and self.slab.bytes > KEPT_BYTES:
            release_chunks(&self.slab)
        self.groups.shrink()
        self.room = self.slab.bytes
        self.touches.length = 0
        if touched > KEPT_TOUCHES:
            release(&self.touches)
            release(&self.tail)
        return 0

    cdef void _release_touch(self, Touch* touch) noexcept nogil:
        release_entries(&touch.now, self.stride, &self.slab)
        release_entries(&touch.said, self.said_stride, &self.slab)
        release_entries(&touch.axes, AXIS_WORDS, &self.slab)

    cdef int _absorb(self, Curve* curve, Entries* now) except -1 nogil:
        cdef uint32_t i
        for i in range(now.length):
            entry_at(now, i, self.stride)[self.stride - 2] = 0
        _add_up(now, self.stride)
        if curve.past.capacity == 0 and 2 * now.length >= now.capacity:
            curve.past, now[0] = now[0], curve.past     # most keys never get more
            return 0
        return self._merge(&curve.past, now.words, now.length)

    # Packs the histories side by side in as few chunks as they need, as far as there is memory for it.
    cdef void _pack(self) noexcept nogil:
        cdef Slab packed
        cdef Entries* past
        cdef uint64_t* words
        cdef size_t length
        cdef uint32_t key
        memset(&packed, 0, sizeof(Slab))
        for key in range(self.groups.length()):
            past = &self.curve(key).past
            if past.length == 0 or <size_t> past.capacity * self.stride > MOST_WORDS:
                continue
            length = <size_t> past.length * self.stride
            words = take_words(&packed, length)
            if words == NULL:
                adopt_chunks(&self.slab, &packed)
                return
            memcpy(words, past.words, length * sizeof(uint64_t))
            past.words = words
            past.capacity = <uint32_t> (room_for(length) // self.stride)
        release_chunks(&self.slab)
        adopt_chunks(&self.slab, &packed)

    cdef int _no_memory(self) except -1 nogil:
        with gil:
            raise MemoryError("no memory for the histories of a reduction in a loop")


# Adds up neighbours that have become equal.
cdef void _add_up(Entries* entries, int stride) noexcept nogil:
    cdef uint32_t i = 0, kept = 0
    cdef uint64_t* entry
    cdef uint64_t* target
    while i < entries.length:
        entry = entry_at(entries, i, stride)
        target = entry_at(entries, kept, stride)
        if target != entry:
            memcpy(target, entry, stride * sizeof(uint64_t))
        i += 1
        while i < entries.length and compare_words(
                target, entry_at(entries, i, stride), stride - 1) == 0:
            add_to(&target[stride - 1], entry_at(entries, i, stride)[stride - 1])
            i += 1
        if target[stride - 1] != 0:
            kept += 1
    entries.length = kept
