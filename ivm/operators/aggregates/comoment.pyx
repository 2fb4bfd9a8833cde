"""Comoments: sums of products of deviations, behind variances, correlations and regressions."""

from libc.math cimport NAN
from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy, memset

from ivm.operators.aggregates.exact_sum cimport EXACT_WORDS, exact_add, exact_merge
from ivm.operators.aggregates.bigint cimport add_shifted, divide, leading_bits, magnitude_of, multiply, nearest
from ivm.expressions.kernels.decimals cimport power_of_ten
from ivm.rows.words cimport decode_double, encode_double

cdef extern from *:
    """
    typedef unsigned __int128 ivm_uint128;
    """
    ctypedef unsigned long long uint128 "ivm_uint128"

cdef enum:
    SUM = 4             # words of a sum of numbers: 127 bits of each, and 63 of their count
    SQUARES = 6
    LIMBS = EXACT_WORDS - 3
    PRODUCTS = 68       # twice 2098 bits of floats, and 63 of their count
    UNIT = -2148        # exponent of a product of floats
    SPARE = 6           # words for the remainder of a division by a count and by 76 digits

cdef uint64_t TEN_19 = 10_000_000_000_000_000_000u


cdef void add_number(uint64_t* state, int128 value, int64_t diff) noexcept nogil:
    cdef uint64_t number[2]
    cdef uint64_t square[4]
    cdef uint64_t times = _magnitude(diff)
    cdef uint64_t scaled[5]
    cdef uint128 magnitude = <uint128> 0 - <uint128> value if value < 0 else <uint128> value
    number[0] = <uint64_t> magnitude
    number[1] = <uint64_t> (magnitude >> 64)
    multiply(number, 2, &times, 1, scaled)
    add_shifted(state, SUM, scaled, 3, 0, (value < 0) != (diff < 0))
    multiply(number, 2, number, 2, square)
    multiply(square, 4, &times, 1, scaled)
    add_shifted(state + SUM, SQUARES, scaled, 5, 0, diff < 0)


cdef void merge_numbers(uint64_t* state, const uint64_t* other) noexcept nogil:
    add_shifted(state, SUM, other, SUM, 0, False)
    add_shifted(state + SUM, SQUARES, other + SUM, SQUARES, 0, False)


cdef void merge_floats(uint64_t* state, const uint64_t* other) noexcept nogil:
    exact_merge(state, other)
    add_shifted(state + EXACT_WORDS, PRODUCTS, other + EXACT_WORDS, PRODUCTS, 0, False)


cdef void merge_pairs(uint64_t* state, const uint64_t* other) noexcept nogil:
    exact_merge(state, other)
    merge_floats(state + EXACT_WORDS, other + EXACT_WORDS)


cdef uint64_t comoment_of_numbers(const uint64_t* state, int64_t n, int scale) noexcept nogil:
    return encode_double(_result(state, state, SUM, state + SUM, SQUARES, n, 0, 2 * scale))


cdef void add_float(uint64_t* state, uint64_t x, int64_t diff) noexcept nogil:
    exact_add(state, x, diff)
    _add_product(state + EXACT_WORDS, x, x, diff)


cdef uint64_t comoment_of_floats(const uint64_t* state, int64_t n) noexcept nogil:
    if not _finite(state):
        return encode_double(NAN)
    return encode_double(
        _result(state + 3, state + 3, LIMBS, state + EXACT_WORDS, PRODUCTS, n, UNIT, 0))


cdef void add_pair(uint64_t* state, uint64_t x, uint64_t y, int64_t diff) noexcept nogil:
    exact_add(state, x, diff)
    exact_add(state + EXACT_WORDS, y, diff)
    _add_product(state + 2 * EXACT_WORDS, x, y, diff)


cdef uint64_t comoment_of_pairs(const uint64_t* state, int64_t n) noexcept nogil:
    cdef const uint64_t* second = state + EXACT_WORDS
    if not _finite(state) or not _finite(second):
        return encode_double(NAN)
    return encode_double(
        _result(state + 3, second + 3, LIMBS, second + EXACT_WORDS, PRODUCTS, n, UNIT, 0))


# Adds `diff` times the product of two floats, if both are finite.
cdef void _add_product(uint64_t* products, uint64_t x, uint64_t y, int64_t diff) noexcept nogil:
    cdef uint64_t a, b, times = _magnitude(diff)
    cdef int of_a = _split(x, &a), of_b = _split(y, &b)
    cdef bint negative = (decode_double(x) < 0) != (decode_double(y) < 0)
    cdef uint128 product = <uint128> a * b
    cdef uint64_t words[2]
    cdef uint64_t scaled[3]
    if of_a < 0 or of_b < 0:
        return
    words[0] = <uint64_t> product
    words[1] = <uint64_t> (product >> 64)
    multiply(words, 2, &times, 1, scaled)
    add_shifted(products, PRODUCTS, scaled, 3, of_a + of_b, negative != (diff < 0))


# The absolute value as mantissa * 2**(exponent - 1074); returns the exponent, or -1 if it is not finite.
cdef int _split(uint64_t word, uint64_t* mantissa) noexcept nogil:
    cdef double value = decode_double(word)
    cdef uint64_t bits
    cdef int exponent
    memcpy(&bits, &value, sizeof(double))
    exponent = <int> ((bits >> 52) & 2047)
    mantissa[0] = bits & ((<uint64_t> 1 << 52) - 1)
    if exponent == 2047:
        return -1
    if exponent == 0:
        return 0
    mantissa[0] |= <uint64_t> 1 << 52
    return exponent - 1


cdef inline bint _finite(const uint64_t* sum) noexcept nogil:
    return sum[0] == 0 and sum[1] == 0 and sum[2] == 0


cdef inline uint64_t _magnitude(int64_t diff) noexcept nogil:
    return <uint64_t> 0 - <uint64_t> diff if diff < 0 else <uint64_t> diff


# (n * products - x * y) / n in units of 2**unit / 10**digits, where the sums x and y have `width` words.
cdef double _result(const uint64_t* x, const uint64_t* y, int width, const uint64_t* products,
                    int words, int64_t n, int unit, int digits) noexcept nogil:
    cdef uint64_t a[LIMBS]
    cdef uint64_t b[LIMBS]
    cdef uint64_t product[PRODUCTS + 1]
    cdef uint64_t total[PRODUCTS + 1]
    cdef uint64_t quotient[PRODUCTS + SPARE]
    cdef uint64_t times = <uint64_t> n, top
    cdef bint negative = magnitude_of(products, words, quotient)
    cdef bint exact
    cdef int exponent
    memset(total, 0, words * sizeof(uint64_t))
    multiply(quotient, words, &times, 1, product)
    add_shifted(total, words, product, words, 0, negative)
    negative = magnitude_of(x, width, a) != magnitude_of(y, width, b)
    multiply(a, width, b, width, product)
    add_shifted(total, words, product, min(2 * width, words), 0, not negative)
    memset(quotient, 0, SPARE * sizeof(uint64_t))
    negative = magnitude_of(total, words, quotient + SPARE)
    words += SPARE
    exact = divide(quotient, words, times) == 0
    while digits > 0:
        exact &= divide(quotient, words, TEN_19 if digits >= 19 else <uint64_t> power_of_ten(digits)) == 0
        digits -= 19
    top = leading_bits(quotient, words, &exponent)
    return nearest(top if exact else top | 1, exponent - 64 * SPARE + unit, negative)
