"""Exact sums of floats in a fixed-point number as wide as their range (Kulisch's long accumulator)."""

from libc.math cimport INFINITY, isinf, isnan, ldexp
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

from ivm.operators.aggregates.bigint cimport add_shifted, leading_bits, magnitude_of, nearest

cdef extern from *:
    """
    typedef unsigned __int128 ivm_uint128;
    """
    ctypedef unsigned long long uint128 "ivm_uint128"

cdef enum:
    LIMBS = 34          # words of the integer, behind the three counts
    SPARE = 64          # bits by which a sum may exceed the range

cdef uint64_t SIGN = <uint64_t> 1 << 63
cdef uint64_t NAN_WORD = <uint64_t> 0xFFF8 << 48


cdef void exact_add(uint64_t* state, uint64_t word, int64_t diff) noexcept nogil:
    cdef uint64_t bits = word ^ SIGN if word & SIGN else ~word
    cdef double value
    cdef uint64_t mantissa = bits & ((<uint64_t> 1 << 52) - 1)
    cdef int exponent = <int> ((bits >> 52) & 2047)
    memcpy(&value, &bits, sizeof(double))
    if isnan(value):
        state[0] += <uint64_t> diff
        return
    if isinf(value):
        state[1 if value > 0 else 2] += <uint64_t> diff
        return
    if exponent > 0:
        mantissa |= <uint64_t> 1 << 52
        exponent -= 1                   # in units of 2**-1074
    if diff < 0:
        _add_scaled(state + 3, mantissa, <uint64_t> -diff, exponent, value > 0)
    else:
        _add_scaled(state + 3, mantissa, <uint64_t> diff, exponent, value < 0)


cdef void exact_merge(uint64_t* state, const uint64_t* other) noexcept nogil:
    cdef int i
    for i in range(EXACT_WORDS - LIMBS):
        state[i] += other[i]
    add_shifted(state + EXACT_WORDS - LIMBS, LIMBS, other + EXACT_WORDS - LIMBS, LIMBS, 0, False)


# Adds (or subtracts) mantissa * times * 2**shift.
cdef void _add_scaled(uint64_t* limbs, uint64_t mantissa, uint64_t times, int shift,
                      bint subtract) noexcept nogil:
    cdef uint128 product = <uint128> mantissa * times
    cdef uint64_t parts[2]
    parts[0] = <uint64_t> product
    parts[1] = <uint64_t> (product >> 64)
    add_shifted(limbs, LIMBS, parts, 2, shift, subtract)


# Rounds the integer, in units of 2**-(1074 + scale), to the nearest double; ties to even.
cdef double _nearest(const uint64_t* limbs, int scale) noexcept nogil:
    cdef uint64_t magnitude[LIMBS]
    cdef bint negative = magnitude_of(limbs, LIMBS, magnitude)
    cdef int exponent
    cdef uint64_t top = leading_bits(magnitude, LIMBS, &exponent)
    return nearest(top, exponent - 1074 - scale, negative)


cdef bint exact_value(const uint64_t* state, int64_t count, uint64_t* word) noexcept nogil:
    cdef double value
    cdef uint64_t bits
    cdef bint fits = True
    if <int64_t> state[0] > 0 or (<int64_t> state[1] > 0 and <int64_t> state[2] > 0):
        word[0] = NAN_WORD
        return True
    if <int64_t> state[1] > 0:
        value = INFINITY
    elif <int64_t> state[2] > 0:
        value = -INFINITY
    else:
        value = _nearest(state + 3, 0) / <double> count
        if isinf(value):        # an average lies in the range even where the sum does not
            value = ldexp(_nearest(state + 3, SPARE) / <double> count, SPARE)
        fits = not isinf(value)
    if value == 0:
        value = 0.0
    memcpy(&bits, &value, sizeof(double))
    word[0] = ~bits if bits & SIGN else bits | SIGN
    return fits
