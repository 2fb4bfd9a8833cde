# Times in the product order: word 0 is the root coordinate, one more for each enclosing loop.
#
# (s <= t) holds coordinate by coordinate; the least upper bound (join) is the coordinates' maximum
# and the greatest lower bound (meet) their minimum. Each coordinate is totally ordered, so a
# prioritised loop's pair (priority, round) in lexicographic order is one coordinate: one word with
# the priority in its high half and the round in its low half.

from libc.stdint cimport uint32_t, uint64_t

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


cdef inline void meet_into(uint64_t* s, const uint64_t* t, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        if t[i] < s[i]:
            s[i] = t[i]


# Lexicographic order of `n` words: -1, 0 or 1. For times it is a linear extension of the product order.
cdef inline int compare_words(const uint64_t* a, const uint64_t* b, int n) noexcept nogil:
    cdef int i
    for i in range(n):
        if a[i] != b[i]:
            return -1 if a[i] < b[i] else 1
    return 0


# The coordinate (priority, round) and its halves. Adding 1 to the word adds 1 to the round.
cdef inline uint64_t pack_coordinate(uint32_t priority, uint32_t round) noexcept nogil:
    return (<uint64_t> priority << 32) | round


cdef inline uint32_t priority_of(uint64_t coordinate) noexcept nogil:
    return <uint32_t> (coordinate >> 32)


cdef inline uint32_t round_of(uint64_t coordinate) noexcept nogil:
    return <uint32_t> coordinate
