from libc.stdint cimport uint64_t
from libcpp.map cimport map
from libcpp.vector cimport vector

from ivm.operators.base.operator cimport Region
from ivm.rows.updates cimport Updates


# Parking holds updates back for later rounds of a loop, by round.
cdef class Parking:
    cdef map[vector[uint64_t], Updates] rounds
    cdef Updates* last                              # the round in which the last update was parked, or NULL
    cdef vector[uint64_t] last_round
    cdef vector[uint64_t] round         # scratch
    # Parks one update for the round of `time`, copying row, time and diff.
    cdef int park(self, const Updates* shape, const uint64_t* update) except -1 nogil
    # Appends the present round's updates to `out`.
    cdef int take(self, Updates* out, Region region) except -1 nogil
    cdef bint earliest(self, uint64_t* at, int depth) noexcept nogil
    cdef Py_ssize_t due(self, Region region) noexcept nogil
    cdef size_t held_bytes(self) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef int _no_memory(self) except -1 nogil
