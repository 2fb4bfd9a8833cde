"""A stretch holds rows of a partition in order with their peers, for window functions to read."""

from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.threads.team cimport note_overflow
from ivm.trace.times cimport compare_words

ctypedef const uint64_t* const_words


cdef class Stretch:
    """Holds rows in order; rows whose values agree in their first `order_words` words are peers."""

    def __init__(self, int order_words):
        self.order_words = order_words
        self.rows_before = 0
        self.groups_before = 0
        self.head = NULL

    cdef void clear(self) noexcept nogil:
        self.rows.clear()
        self.group_of.clear()
        self.groups.clear()

    cdef void release(self) noexcept nogil:
        self.rows = vector[const_words]()
        self.group_of = vector[Py_ssize_t]()
        self.groups = vector[Py_ssize_t]()

    cdef int append(self, const uint64_t* val, int64_t count) except -1 nogil:
        cdef int64_t i
        if count > MOST_COPIES:
            note_overflow()
            count = 1
        if self.rows.empty() or compare_words(self.rows.back(), val, self.order_words) != 0:
            self.groups.push_back(self.rows.size())
        for i in range(count):
            self.rows.push_back(val)
            self.group_of.push_back(self.groups.size() - 1)
        return 0

    cdef int close(self) except -1 nogil:
        self.groups.push_back(self.rows.size())
        return 0

    cdef Py_ssize_t length(self) noexcept nogil:
        return self.rows.size()
