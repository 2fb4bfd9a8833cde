# Running sums: the states of a key's group at the times of a sweep, each from the one before.

from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.aggregates.linear cimport Accumulation
from ivm.operators.reductions.histories cimport Curves
from ivm.operators.reductions.sorted_entries cimport Entries
from ivm.rows.updates cimport Updates


# The sums of one key in the present step, up to the round that was asked for last.
cdef struct Sums:
    Entries order       # (round, entry) of the past, ascending
    uint32_t next       # of these, the first that is not in the states
    uint32_t taken      # new entries that were looked at
    Entries late        # those of them that lie in later rounds: their places
    Entries states      # of the past, then with the new entries up to each root: state, root
    Entries said        # root and value of the output's changes so far, and a diff


cdef class RunningSums:
    cdef Accumulation logic
    cdef Curves curves
    cdef vector[Sums] sums
    cdef Updates scratch        # to sort by
    cdef Updates answer         # the logic's output
    cdef vector[uint64_t] entry
    # Begins to sum the group of a touched key, whose new entries stay where they are from now on.
    cdef int begin(self, uint32_t place) except -1 nogil
    # Fills `changes` with the updates that the key's output lacks at `time`; times must not go back.
    cdef int find_changes(self, uint32_t place, const uint64_t* time, Updates* changes) except -1 nogil
    # Notes changes of the output at `time` as said.
    cdef int say(self, uint32_t place, const uint64_t* time, const Updates* changes) except -1 nogil
    # Moves `candidate`, the time that was asked for last, to the next one at which the output would change if no
    # more input came; False if there is none.
    cdef bint find_next(self, uint32_t place, uint64_t* candidate) noexcept nogil
    # Forgets all keys, before the new entries become past.
    cdef void clear(self) noexcept nogil
    cdef int advance(self, uint32_t place, uint64_t round) except -1 nogil
    cdef int take(self, Sums* sums, const uint64_t* entry, uint32_t first) except -1 nogil
    cdef uint32_t new_from(self, Sums* sums, const uint64_t* entry) except 0 nogil
    cdef int open(self, Sums* sums) except -1 nogil
    cdef uint32_t state_at(self, const Sums* sums, uint64_t root) noexcept nogil
    cdef int _sort(self, const Entries* past, Entries* order) except -1 nogil
    cdef int _change(self, Updates* changes, const uint64_t* value, uint64_t diff) except -1 nogil
    cdef int put(self, const uint64_t* state, uint64_t diff, Updates* changes) except -1 nogil
    cdef int no_memory(self) except -1 nogil
