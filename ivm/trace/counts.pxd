# Counts of copies in 64 bits: sums, products and negations of diffs.
#
# One that leaves 64 bits wraps and is noted (`ivm.threads.team`): then nothing that comes of it may be shown. To see it
# costs a branch that is never taken. Sums of any order are right again once the whole is: 2^63 - 1 + 1 - 1 is noted,
# and is 2^63 - 1.

from libc.stdint cimport int64_t, uint64_t

from ivm.threads.team cimport note_overflow

cdef extern from *:
    """
    #define ivm_add_overflows(x, y, result) __builtin_expect(__builtin_add_overflow(x, y, result), 0)
    #define ivm_multiply_overflows(x, y, result) __builtin_expect(__builtin_mul_overflow(x, y, result), 0)
    #define ivm_negate_overflows(x, result) __builtin_expect(__builtin_sub_overflow(0, x, result), 0)
    """
    bint add_overflows "ivm_add_overflows"(int64_t x, int64_t y, int64_t* total) noexcept nogil
    bint multiply_overflows "ivm_multiply_overflows"(int64_t x, int64_t y, int64_t* product) noexcept nogil
    bint negate_overflows "ivm_negate_overflows"(int64_t x, int64_t* negation) noexcept nogil


cdef inline int64_t sum_of(int64_t x, int64_t y) noexcept nogil:
    cdef int64_t total
    if add_overflows(x, y, &total):
        note_overflow()
    return total


cdef inline int64_t product_of(int64_t x, int64_t y) noexcept nogil:
    cdef int64_t product
    if multiply_overflows(x, y, &product):
        note_overflow()
    return product


# Adds to, and negates, a diff in a row of words.
cdef inline void add_to(uint64_t* diff, uint64_t more) noexcept nogil:
    diff[0] = <uint64_t> sum_of(<int64_t> diff[0], <int64_t> more)


cdef inline void negate(uint64_t* diff) noexcept nogil:
    cdef int64_t negation
    if negate_overflows(<int64_t> diff[0], &negation):
        note_overflow()
    diff[0] = <uint64_t> negation
