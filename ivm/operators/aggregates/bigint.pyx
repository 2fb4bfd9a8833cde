"""Arithmetic of integers wider than a machine word, for exact sums."""

from libc.math cimport ldexp
from libc.stdint cimport uint64_t
from libc.string cimport memset

cdef extern from *:
    """
    typedef unsigned __int128 ivm_uint128;
    """
    ctypedef unsigned long long uint128 "ivm_uint128"
    int leading_zeros "__builtin_clzll"(unsigned long long) noexcept nogil


cdef void add_shifted(uint64_t* total, int width, const uint64_t* part, int n, int shift,
                      bint subtract) noexcept nogil:
    cdef int at = shift // 64, rest = shift % 64, i
    cdef uint64_t word, below = 0
    cdef uint128 carry = 0
    for i in range(width - at):
        if i > n and carry == 0:
            return
        word = below >> (64 - rest) if rest > 0 else 0
        below = part[i] if i < n else 0
        word |= below << rest
        if subtract:
            carry = <uint128> total[at + i] - word - carry
            total[at + i] = <uint64_t> carry
            carry = (carry >> 64) & 1
        else:
            carry += <uint128> total[at + i] + word
            total[at + i] = <uint64_t> carry
            carry >>= 64


cdef bint magnitude_of(const uint64_t* integer, int n, uint64_t* magnitude) noexcept nogil:
    cdef bint negative = integer[n - 1] >> 63 != 0
    cdef uint64_t carry = 1
    cdef int i
    for i in range(n):
        magnitude[i] = ~integer[i] + carry if negative else integer[i]
        carry = 1 if carry and magnitude[i] == 0 else 0
    return negative


cdef void multiply(const uint64_t* a, int n, const uint64_t* b, int m, uint64_t* product) noexcept nogil:
    cdef int i, j, last = m
    cdef uint128 carry
    memset(product, 0, (n + m) * sizeof(uint64_t))
    while last > 0 and b[last - 1] == 0:
        last -= 1
    for i in range(n):
        if a[i] == 0:
            continue
        carry = 0
        for j in range(last):
            carry += <uint128> a[i] * b[j] + product[i + j]
            product[i + j] = <uint64_t> carry
            carry >>= 64
        product[i + last] += <uint64_t> carry


cdef uint64_t divide(uint64_t* magnitude, int n, uint64_t divisor) noexcept nogil:
    cdef uint128 rest = 0, by = divisor     # one type, or Cython divides 64 bits
    cdef int i
    for i in range(n - 1, -1, -1):
        rest = rest << 64 | <uint128> magnitude[i]
        magnitude[i] = <uint64_t> (rest / by)
        rest %= by
    return <uint64_t> rest


cdef uint64_t leading_bits(const uint64_t* magnitude, int n, int* exponent) noexcept nogil:
    cdef int high = n - 1, zeros, i
    cdef uint64_t top
    exponent[0] = 0
    while high >= 0 and magnitude[high] == 0:
        high -= 1
    if high < 0:
        return 0
    zeros = leading_zeros(magnitude[high])
    exponent[0] = high * 64 - zeros
    top = magnitude[high] << zeros
    if high > 0:
        if zeros > 0:
            top |= magnitude[high - 1] >> (64 - zeros)
        if (magnitude[high - 1] << zeros) != 0:
            top |= 1
    for i in range(high - 1):
        if magnitude[i] != 0:
            top |= 1
            break
    return top


cdef double nearest(uint64_t top, int exponent, bint negative) noexcept nogil:
    cdef int drop = 11              # bits beyond a normal number's 53
    cdef uint64_t kept, rest, half
    if top == 0:
        return 0.0
    if exponent + 63 < -1022:       # subnormal: fewer bits remain
        drop = -1074 - exponent
    if drop > 64:
        return 0.0
    if drop == 64:                  # at least half of the least number
        kept = 1 if top > <uint64_t> 1 << 63 else 0
    elif drop <= 0:
        kept = top
        drop = 0
    else:
        half = <uint64_t> 1 << (drop - 1)
        kept = top >> drop
        rest = top & ((half << 1) - 1)
        if rest > half or (rest == half and kept & 1):
            kept += 1
    return ldexp(-<double> kept if negative else <double> kept, exponent + drop)
