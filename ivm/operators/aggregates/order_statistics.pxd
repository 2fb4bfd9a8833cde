from libc.stdint cimport int64_t, uint64_t
from libcpp.vector cimport vector

from ivm.operators.aggregates.ordering cimport Candidate, Ordering

# A leaf holds some of a ranking's values: `length` of them, each `words` words and then its count.
cdef struct Leaf:
    Py_ssize_t length
    uint64_t entries[1]

# A ranking holds the values of one large group in order, with their counts.
cdef class Ranking:
    cdef Ordering ordering
    cdef int stride                 # words of an entry
    cdef readonly Py_ssize_t length # values held
    cdef Py_ssize_t held            # leaves held
    cdef vector[Leaf*] leaves       # none is empty
    cdef vector[int64_t] copies     # of each leaf: copies of its values with positive counts
    # Replaces the contents by these values, which are in order.
    cdef int fill(self, const vector[Candidate]* values) except -1 nogil
    # Adds `diff` copies of a value.
    cdef int add(self, const uint64_t* val, int64_t diff) except -1 nogil
    # Replaces `group` by the first values with positive counts, until they are `wanted` copies. They point
    # into the ranking, until it changes.
    cdef int first(self, int64_t wanted, vector[Candidate]* group) except -1 nogil
    # The number of copies of all values.
    cdef int64_t total(self) noexcept nogil
    # Finds the value of the copy at `position`, from 0 and below `total`.
    cdef const uint64_t* at(self, int64_t position) noexcept nogil
    # Returns the last value, whatever its count; there must be one.
    cdef Candidate last(self) noexcept nogil
    cdef void clear(self) noexcept nogil
    cdef int64_t count(self, size_t l, Py_ssize_t i) noexcept nogil
    cdef const uint64_t* entry(self, const Leaf* leaf, Py_ssize_t i) noexcept nogil
    cdef size_t leaf_of(self, const uint64_t* val) noexcept nogil
    cdef Py_ssize_t place_in(self, const Leaf* leaf, const uint64_t* val) noexcept nogil
    cdef void write(self, Leaf* leaf, Py_ssize_t at, const uint64_t* val, int64_t count) noexcept nogil
    cdef Leaf* new_leaf(self) except NULL nogil
    cdef int insert(self, size_t l, Py_ssize_t at, const uint64_t* val, int64_t count) except -1 nogil
    cdef void remove(self, size_t l, Py_ssize_t at) noexcept nogil
