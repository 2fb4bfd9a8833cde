# Exact sums of float64 values, which can be retracted.
#
# Every finite float64 is a multiple of 2**-1074 below 2**1024. The sum is a two's complement
# integer of that unit: 34 words, 77 of their bits spare, enough for 2**63 values of any size. Not-a-number and
# the infinities are counted apart.

from libc.stdint cimport int64_t, uint64_t

cdef enum:
    EXACT_WORDS = 37    # count of NaN, of +inf, of -inf; then the integer, low word first

# Adds `diff` copies of the value that the order-preserving `word` encodes.
cdef void exact_add(uint64_t* state, uint64_t word, int64_t diff) noexcept nogil

# Adds another sum.
cdef void exact_merge(uint64_t* state, const uint64_t* other) noexcept nogil

# Writes the sum divided by `count` as an order-preserving word; False where finite values come to more than a
# float64 holds.
cdef bint exact_value(const uint64_t* state, int64_t count, uint64_t* word) noexcept nogil
