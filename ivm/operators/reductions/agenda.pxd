cimport cython
from libc.stdint cimport uint32_t, uint64_t
from libcpp.vector cimport vector


# An agenda holds items by time, earliest first. A time is `words` words, compared lexicographically.
@cython.final
cdef class Agenda:
    cdef int words
    cdef vector[uint64_t] times             # of the buckets, latest first
    cdef vector[uint32_t] order             # their places in `buckets`
    cdef vector[vector[uint32_t]] buckets
    cdef vector[uint32_t] free              # places that are not in use
    cdef size_t most                        # items of a time, since the agenda was cleared
    cdef int add(self, const uint64_t* time, uint32_t item) except -1 nogil
    # The earliest time, or NULL.
    cdef inline const uint64_t* earliest(self) noexcept nogil:
        if self.order.empty():
            return NULL
        return self.times.data() + (self.order.size() - 1) * self.words
    # The number of items at the earliest time.
    cdef Py_ssize_t due(self) noexcept nogil
    # Moves the earliest time's items into `items`, and drops that time.
    cdef int take(self, vector[uint32_t]* items) except -1 nogil
    cdef void clear(self) noexcept nogil
    # Gives memory back if it is empty and has held many items.
    cdef void rest(self) noexcept nogil
    cdef int _open(self, size_t at, const uint64_t* time) except -1 nogil
