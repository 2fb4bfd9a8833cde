"""Exact addition of floats, after Kulisch's long accumulator."""

from libc.math cimport INFINITY, NAN, isinf, isnan, ldexp
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy

cdef extern from *:
    """
    typedef unsigned __int128 ivm_uint128;
    """
    ctypedef unsigned long long uint128 "ivm_uint128"
    int leading_zeros "__builtin_clzll"(unsigned long long) noexcept nogil

cdef enum:
    LIMBS = 34          # words of the integer, behind the three counts

cdef uint64_t SIGN = <uint64_t> 1 << 63
cdef uint64_t CANONICAL_NAN = <uint64_t> 0xFFF8 << 48


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


# Adds (or subtracts) mantissa * times * 2**shift.
cdef void _add_scaled(uint64_t* limbs, uint64_t mantissa, uint64_t times, int shift,
                      bint subtract) noexcept nogil:
    cdef uint128 product = <uint128> mantissa * times
    cdef int at = shift // 64, rest = shift % 64, i
    cdef uint64_t parts[3]
    cdef uint128 carry = 0
    parts[0] = <uint64_t> (product << rest)
    parts[1] = <uint64_t> ((product << rest) >> 64)
    parts[2] = 0 if rest == 0 else <uint64_t> (product >> (128 - rest))
    for i in range(LIMBS - at):
        if i >= 3 and carry == 0:
            return
        if subtract:
            carry = <uint128> limbs[at + i] - (parts[i] if i < 3 else 0) - carry
            limbs[at + i] = <uint64_t> carry
            carry = (carry >> 64) & 1
        else:
            carry += <uint128> limbs[at + i] + (parts[i] if i < 3 else 0)
            limbs[at + i] = <uint64_t> carry
            carry >>= 64


cdef double _nearest(const uint64_t* limbs) noexcept nogil:
    cdef uint64_t magnitude[LIMBS]
    cdef bint negative = limbs[LIMBS - 1] >> 63
    cdef uint64_t carry = 1, top
    cdef int i, zeros, high
    for i in range(LIMBS):
        magnitude[i] = ~limbs[i] + carry if negative else limbs[i]
        carry = 1 if carry and magnitude[i] == 0 else 0
    high = LIMBS - 1
    while high >= 0 and magnitude[high] == 0:
        high -= 1
    if high < 0:
        return 0.0
    zeros = leading_zeros(magnitude[high])
    top = magnitude[high] << zeros
    if zeros > 0 and high > 0:
        top |= magnitude[high - 1] >> (64 - zeros)
    # 64 leading bits; whether anything follows goes into the last one, so that a tie is seen as none.
    if high > 0 and (magnitude[high - 1] << zeros) != 0:
        top |= 1
    for i in range(high - 1):
        if magnitude[i] != 0:
            top |= 1
            break
    return _scale(top, high * 64 - zeros - 1074, negative)


# top * 2**exponent, rounded once, to nearest, ties to even.
cdef double _scale(uint64_t top, int exponent, bint negative) noexcept nogil:
    cdef int drop = 11              # bits beyond a normal number's 53
    cdef uint64_t kept, rest, half
    if exponent + 63 < -1022:       # subnormal: fewer bits remain
        drop = -1074 - exponent
    if drop >= 64:                  # cannot be: sums are multiples of 2**-1074
        return 0.0
    if drop <= 0:
        kept = top
        drop = 0
    else:
        half = <uint64_t> 1 << (drop - 1)
        kept = top >> drop
        rest = top & ((half << 1) - 1)
        if rest > half or (rest == half and kept & 1):
            kept += 1
    return ldexp(-<double> kept if negative else <double> kept, exponent + drop)


cdef uint64_t exact_value(const uint64_t* state, int64_t count) noexcept nogil:
    cdef double value
    cdef uint64_t bits
    if <int64_t> state[0] > 0 or (<int64_t> state[1] > 0 and <int64_t> state[2] > 0):
        value = NAN
    elif <int64_t> state[1] > 0:
        value = INFINITY
    elif <int64_t> state[2] > 0:
        value = -INFINITY
    else:
        value = _nearest(state + 3) / <double> count
    if isnan(value):
        return CANONICAL_NAN
    if value == 0:
        value = 0.0
    memcpy(&bits, &value, sizeof(double))
    return ~bits if bits & SIGN else bits | SIGN
