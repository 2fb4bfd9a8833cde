# Integers of many words, the lowest first: magnitudes, and two's complement where negative ones occur.

from libc.stdint cimport uint64_t

# Adds the magnitude `part` of `n` words, shifted up by `shift` bits, or subtracts it. Bits beyond the `width`
# words of `total` are lost, as in two's complement.
cdef void add_shifted(uint64_t* total, int width, const uint64_t* part, int n, int shift,
                      bint subtract) noexcept nogil

# Writes the magnitude of a two's complement integer of `n` words; returns whether it is negative.
cdef bint magnitude_of(const uint64_t* integer, int n, uint64_t* magnitude) noexcept nogil

# Writes the product, of `n` + `m` words.
cdef void multiply(const uint64_t* a, int n, const uint64_t* b, int m, uint64_t* product) noexcept nogil

# Divides by a divisor other than zero, and returns the remainder.
cdef uint64_t divide(uint64_t* magnitude, int n, uint64_t divisor) noexcept nogil

# Returns the 64 leading bits, of which the last is set if anything follows them, so that rounding sees it; 0
# for 0. The magnitude is that times 2**exponent, or a little more.
cdef uint64_t leading_bits(const uint64_t* magnitude, int n, int* exponent) noexcept nogil

# Rounds top * 2**exponent once, to nearest, ties to even; `top` comes from `leading_bits`.
cdef double nearest(uint64_t top, int exponent, bint negative) noexcept nogil
