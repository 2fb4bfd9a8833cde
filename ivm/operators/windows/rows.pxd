# A stretch holds the rows of one partition in order, or some of them with all their peers.

from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector


cdef enum:
    MOST_COPIES = 1 << 26   # of a row, each of which is laid out


cdef class Stretch:
    cdef int order_words                # leading words of a value in which peers agree
    cdef vector[const uint64_t*] rows   # each copy of a value separately
    cdef vector[Py_ssize_t] group_of    # for each row the number of its peer group, from 0
    cdef vector[Py_ssize_t] groups      # the first row of each, and then the number of rows
    cdef int64_t rows_before            # number of rows before in the partition, if a function asks for it
    cdef int64_t groups_before
    cdef const uint64_t* head           # the partition's first row, if the stretch begins after it
    cdef void clear(self) noexcept nogil
    # Gives its memory back.
    cdef void release(self) noexcept nogil
    # Appends `count` copies of a value that is not below the last one.
    cdef int append(self, const uint64_t* val, int64_t count) except -1 nogil
    # Call after the last row.
    cdef int close(self) except -1 nogil
    cdef Py_ssize_t length(self) noexcept nogil


# The first of a row's peers; and the row after the last of them.
cdef inline Py_ssize_t first_peer(Stretch s, Py_ssize_t i) noexcept nogil:
    return s.groups[s.group_of[i]]


cdef inline Py_ssize_t after_peers(Stretch s, Py_ssize_t i) noexcept nogil:
    return s.groups[s.group_of[i] + 1]
