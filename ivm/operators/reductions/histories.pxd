cimport cython
from libc.stdint cimport uint32_t, uint64_t

from ivm.operators.reductions.sorted_entries cimport Entries
from ivm.operators.base.state_table cimport Groups
from ivm.memory.slab cimport Slab
from ivm.rows.updates cimport Updates, update_at

cdef enum:
    PREFETCHED = 64     # updates whose keys are prefetched at once


# The history of one key between steps. All of `past` lies at root 0.
cdef struct Curve:
    Entries past                # the input's history
    uint64_t touched            # 1 + the place of its `Touch`, or 0

# The changes of one key in the present step.
cdef struct Touch:
    uint32_t key                # its entry among the groups
    uint32_t ordered            # entries of `now` that are in order; those after are its tail
    uint64_t visit              # the visit that evaluated it last
    Entries now                 # the input's changes
    Entries said                # the output's changes so far
    Entries axes                # (axis, coordinate, least coordinate on the other axis), 0


# One of `touches`: until there is another one.
cdef inline Touch* touch_at(const Updates* touches, uint32_t place) noexcept nogil:
    return <Touch*> update_at(touches, place)


# Writes a time of `n` coordinates in the order in which a loop is swept: the root comes last.
cdef inline void to_sweep(const uint64_t* time, uint64_t* sweep, int n) noexcept nogil:
    cdef int i
    for i in range(1, n):
        sweep[i - 1] = time[i]
    sweep[n - 1] = time[0]


cdef inline void from_sweep(const uint64_t* sweep, uint64_t* time, int n) noexcept nogil:
    cdef int i
    for i in range(1, n):
        time[i] = sweep[i - 1]
    time[0] = sweep[n - 1]


# Histories hold the input's history of every key. Entries are a value's words, a sweep time and a diff.
@cython.final
cdef class Curves:
    cdef readonly Groups groups
    cdef readonly tuple strings         # words of a value that hold strings, complemented?
    cdef int time_words
    cdef int words                      # of a value
    cdef int stride                     # words of an entry
    cdef int said_stride                # and of an entry of the output's
    cdef Updates touches                # of this step, bare: a `Touch`, then its bound
    cdef Slab slab                      # the memory of all entries
    cdef Updates tail                   # scratch
    cdef size_t settled                 # keys that were touched since histories were put side by side
    cdef Py_ssize_t records             # entries of all histories
    cdef Py_ssize_t room                # bytes of these, to be read beside a step
    cdef Curve* curve(self, uint32_t key) noexcept nogil
    # The least upper bound of a touched key's times.
    cdef uint64_t* bound(self, uint32_t place) noexcept nogil
    # Prefetches for touching and adding to the keys of `n` updates from `first` on.
    cdef void prefetch(self, const Updates* updates, Py_ssize_t first, Py_ssize_t n) noexcept nogil
    # Prefetches the touch of an entry (plus 1), once that is there, or the past that a touch will read.
    # Returns 1 + its place, or 0 if there is none. Then prefetches the new entries of a touch.
    cdef uint32_t prefetch_touched(self, uint32_t entry) noexcept nogil
    cdef void prefetch_now(self, uint32_t place) noexcept nogil
    # Prefetches a touch, then the histories that its evaluation will read, and then the entries to which
    # these point.
    cdef void prefetch_touch(self, uint32_t place) noexcept nogil
    cdef void prefetch_histories(self, uint32_t place) noexcept nogil
    cdef void prefetch_past(self, uint32_t place) noexcept nogil
    # Makes room for the sure needs of updates of so many keys.
    cdef int expect(self, size_t keys) except -1 nogil
    # The place in `touches` of `key`; made if this step did not touch it yet.
    cdef uint32_t touch(self, const uint64_t* key) except? 0xFFFFFFFF nogil
    # Sorts the tail of a touched key's new entries, before they are read.
    cdef int order(self, uint32_t place) except -1 nogil
    # Makes room for so many more new entries of a touched key.
    cdef int make_room(self, uint32_t place, Py_ssize_t more) except -1 nogil
    # Adds an update's value, sweep time and diff to the new entries of a touched key.
    cdef int add(self, uint32_t place, const uint64_t* entry) except -1 nogil
    # Builds a touched key's axes, unless it has them.
    cdef int find_axes(self, uint32_t place) except -1 nogil
    # Adds a value, sweep time and diff to the output's changes of a touched key.
    cdef int say(self, uint32_t place, const uint64_t* entry) except -1 nogil
    # Merges the new entries into the past, at the end of a step.
    cdef int settle(self) except -1 nogil
    cdef void _release_touch(self, Touch* touch) noexcept nogil
    cdef int _note_axes(self, Touch* touch, const uint64_t* time) except -1 nogil
    cdef int _absorb(self, Curve* curve, Entries* now) except -1 nogil
    cdef int _merge(self, Entries* into, const uint64_t* added, uint32_t n) except -1 nogil
    cdef size_t held_bytes(self) noexcept nogil
    cdef void _pack(self) noexcept nogil
    cdef int _no_memory(self) except -1 nogil
