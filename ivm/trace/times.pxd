# Times in the product order: word 0 is the root coordinate, one more for each enclosing loop.
#
# (s <= t) holds coordinate by coordinate; the least upper bound is the coordinates' maximum.

from libc.stdint cimport uint64_t

cdef enum:
    MAX_COORDINATES = 8     # the root and seven nested loops


cdef inline bint less_equal(const uint64_t* s, const uint64_t* t, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        if s[i] > t[i]:
            return False
    return True


cdef inline void join_into(uint64_t* s, const uint64_t* t, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        if t[i] > s[i]:
            s[i] = t[i]


# Lexicographic order of `n` words: -1, 0 or 1. For times it is a linear extension of the product order.
cdef inline int compare_words(const uint64_t* a, const uint64_t* b, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        if a[i] != b[i]:
            return -1 if a[i] < b[i] else 1
    return 0
