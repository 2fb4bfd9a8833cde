from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.reductions.touched_groups cimport Run, TouchedGroups
from ivm.operators.aggregates.ordering cimport Candidate, Ordering

# One value with its copies just before a time and at it, of which at least one has some.
cdef struct Step:
    const uint64_t* val
    int64_t old
    int64_t new


cdef class OrderedWalk(TouchedGroups):
    cdef Ordering ordering
    cdef int together                   # leading words of values that are taken together
    cdef vector[Run] behind             # up to `end`: the values before those taken
    cdef vector[Run] ahead              # from `val` on: those after them
    cdef vector[Step] steps             # values taken so far
    cdef vector[Candidate] tied
    cdef vector[Step] moved
    # Starts before the first value that is taken together with `val`, or (NULL) at the beginning.
    cdef int start_at(self, const uint64_t* val) except -1 nogil
    # True if `val` lies after all values that were taken.
    cdef bint lies_ahead(self, const uint64_t* val) noexcept nogil
    # The first value after, and the last before, the values that were taken; or NULL.
    cdef const uint64_t* first_ahead(self) noexcept nogil
    cdef const uint64_t* last_behind(self) noexcept nogil
    # Adds the next values that belong together to `steps`; False if there are none.
    cdef bint take_ahead(self, uint64_t time) except -1 nogil
    # Adds the values before that belong together to `steps`, last first.
    cdef int take_behind(self, uint64_t time) except -1 nogil
    cdef Py_ssize_t place_in(self, const Run* run, const uint64_t* val) noexcept nogil
    cdef int add_step(self, Step* step) except -1 nogil
    cdef int order_ties(self, size_t first) except -1 nogil
