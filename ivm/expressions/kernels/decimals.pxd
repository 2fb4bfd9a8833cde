# Arithmetic on the integers that decimals are stored as.

from ivm.rows.words cimport int128_t

cdef extern from *:
    ctypedef unsigned long long uint128_t "unsigned __int128"


# 10 to the power `n`, which is 0 to 38.
cdef inline int128_t power_of_ten(int n) noexcept nogil:
    cdef int128_t power = 1
    for _ in range(n):
        power *= 10
    return power


cdef inline uint128_t magnitude(int128_t value) noexcept nogil:
    return <uint128_t> 0 - <uint128_t> value if value < 0 else <uint128_t> value


# value / unit rounded half away from zero; `unit` is positive.
cdef inline int128_t round_division(int128_t value, int128_t unit) noexcept nogil:
    cdef int128_t quotient = value // unit
    cdef uint128_t rest = magnitude(value % unit)
    if rest >= <uint128_t> unit - rest and rest != 0:
        return quotient - 1 if value < 0 else quotient + 1
    return quotient


# a * b / unit rounded half away from zero, of any magnitudes; False where 128 bits do not hold it.
cdef bint multiply_divide(int128_t a, int128_t b, int128_t unit, int128_t* result) noexcept nogil


# The digits after the point that PostgreSQL gives the quotient of two decimals, stored with these
# scales and not 0: at least 16 that count, and as many as either number has.
cdef int quotient_digits(int128_t a, int a_scale, int128_t b, int b_scale) noexcept nogil
