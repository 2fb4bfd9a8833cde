"""Decimal kernels compute on integers of up to 38 digits, and round half away from zero.

`p` is the precision of the result's type; a result with more digits is an overflow.
"""

from libc.stdint cimport uint64_t, uintptr_t

from ivm.expressions.kernels.vectors cimport Frame, Instruction, Kernel, fail, start_strict, wanted
from ivm.rows.words cimport decode_decimal, encode_decimal, int128_t

cdef extern from *:
    bint add_overflows "__builtin_add_overflow"(int128_t, int128_t, int128_t*) noexcept nogil
    bint subtract_overflows "__builtin_sub_overflow"(int128_t, int128_t, int128_t*) noexcept nogil
    bint multiply_overflows "__builtin_mul_overflow"(int128_t, int128_t, int128_t*) noexcept nogil

cdef enum Rounding:
    NEAREST
    DOWN
    UP


cdef bint multiply_divide(int128_t a, int128_t b, int128_t unit, int128_t* result) noexcept nogil:
    """A 256-bit product, then long division bit by bit: for the rare values that need it."""
    cdef uint128_t x = magnitude(a), y = magnitude(b), divisor = magnitude(unit)
    cdef uint128_t low_low = <uint128_t> <uint64_t> x * <uint64_t> y
    cdef uint128_t low_high = <uint128_t> <uint64_t> x * <uint64_t> (y >> 64)
    cdef uint128_t high_low = <uint128_t> <uint64_t> (x >> 64) * <uint64_t> y
    cdef uint128_t high_high = <uint128_t> <uint64_t> (x >> 64) * <uint64_t> (y >> 64)
    cdef uint128_t middle = (low_low >> 64) + <uint64_t> low_high + <uint64_t> high_low
    cdef uint128_t low = (middle << 64) | <uint64_t> low_low
    cdef uint128_t rest = high_high + (low_high >> 64) + (high_low >> 64) + (middle >> 64)
    cdef uint128_t quotient = 0
    cdef bint carry
    cdef int bit
    if rest >= divisor:
        return False
    for bit in range(127, -1, -1):
        carry = (rest >> 127) != 0
        rest = (rest << 1) | ((low >> bit) & 1)
        quotient <<= 1
        if carry or rest >= divisor:
            rest -= divisor
            quotient |= 1
    if rest >= divisor - rest:
        quotient += 1
    if quotient >> 127:
        return False
    result[0] = <int128_t> quotient
    if ((a < 0) ^ (b < 0)) ^ (unit < 0):
        result[0] = -result[0]
    return True


cdef enum:
    LIMB = 4                # digits of a digit of PostgreSQL's numeric
    SIGNIFICANT = 16        # digits that a quotient has at least


cdef inline int count_digits(uint128_t value) noexcept nogil:
    cdef uint128_t power = 10
    cdef int count = 1
    while count < 38 and value >= power:
        power *= 10
        count += 1
    return count


cdef inline int leading_limb(uint128_t value, int scale, int* weight) noexcept nogil:
    """The first digit to the base 10000; `weight` is the power of 10000 that it counts."""
    cdef int places = count_digits(value) - 1 - scale, dropped
    weight[0] = places / LIMB if places >= 0 else -((LIMB - 1 - places) / LIMB)
    dropped = scale + LIMB * weight[0]
    if dropped >= 0:
        return <int> (value / <uint128_t> power_of_ten(dropped))
    return <int> (value * <uint128_t> power_of_ten(-dropped))


cdef inline int digits_of(int128_t value, int scale, int least) noexcept nogil:
    """Counts the digits after the point without zeros at the end, but at least `least`."""
    while scale > least and value % 10 == 0:
        value /= 10
        scale -= 1
    return max(scale, least)


cdef int quotient_digits(int128_t a, int a_scale, int128_t b, int b_scale) noexcept nogil:
    """Counts the digits of a quotient after the point, as `select_div_scale` in PostgreSQL's numeric.c."""
    cdef int a_weight = 0, b_weight = 0, digits
    cdef int a_limb = leading_limb(magnitude(a), a_scale, &a_weight)
    cdef int b_limb = leading_limb(magnitude(b), b_scale, &b_weight)
    digits = SIGNIFICANT - LIMB * (a_weight - b_weight - (1 if a_limb <= b_limb else 0))
    return digits_of(b, b_scale, digits_of(a, a_scale, max(digits, 0)))


cdef inline void put(
    const Instruction* it, Py_ssize_t i, int128_t value, bint overflows, int128_t limit
) noexcept nogil:
    encode_decimal(value, it.out.words + 2 * i)
    if overflows or value >= limit or value <= -limit:
        fail(it, i, it.overflow)


cdef void add_decimal(Frame* f, const Instruction* it) noexcept nogil:
    cdef int128_t result = 0, limit = power_of_ten(<int> it.p)
    cdef Py_ssize_t i
    cdef bint overflows
    start_strict(f, it)
    for i in range(f.n):
        overflows = add_overflows(
            decode_decimal(it.a.words + 2 * i), decode_decimal(it.b.words + 2 * i), &result
        )
        put(it, i, result, overflows, limit)


cdef void subtract_decimal(Frame* f, const Instruction* it) noexcept nogil:
    cdef int128_t result = 0, limit = power_of_ten(<int> it.p)
    cdef Py_ssize_t i
    cdef bint overflows
    start_strict(f, it)
    for i in range(f.n):
        overflows = subtract_overflows(
            decode_decimal(it.a.words + 2 * i), decode_decimal(it.b.words + 2 * i), &result
        )
        put(it, i, result, overflows, limit)


cdef void multiply_decimal(Frame* f, const Instruction* it) noexcept nogil:
    """Drops the last `q` digits of the product."""
    cdef int128_t a, b, result = 0
    cdef int128_t unit = power_of_ten(<int> it.q), limit = power_of_ten(<int> it.p)
    cdef bint overflows
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        a = decode_decimal(it.a.words + 2 * i)
        b = decode_decimal(it.b.words + 2 * i)
        overflows = multiply_overflows(a, b, &result)
        if overflows:
            overflows = not multiply_divide(a, b, unit, &result)
        elif it.q:
            result = round_division(result, unit)
        put(it, i, result, overflows, limit)


cdef bint divide(int128_t a, int128_t b, int shift, int128_t* result) noexcept nogil:
    """a * 10^shift / b rounded half away from zero; False where 128 bits do not hold it.

    Where `shift` is negative, as many digits at the end of `a` are zeros.
    """
    cdef int128_t unit
    if shift < 0:
        a /= power_of_ten(-shift)
        shift = 0
    if shift > 38:
        if multiply_overflows(a, power_of_ten(shift - 38), &a):
            return False
        shift = 38
    unit = power_of_ten(shift)
    if multiply_overflows(a, unit, result):
        return multiply_divide(a, unit, b, result)
    result[0] = round_division(result[0] if b > 0 else -result[0], b if b > 0 else -b)
    return True


cdef void divide_decimal(Frame* f, const Instruction* it) noexcept nogil:
    """With the digits that PostgreSQL gives it; `q` holds three scales, a byte each."""
    cdef int scale = <int> (it.q & 255), a_scale = <int> (it.q >> 8 & 255), digits
    cdef int b_scale = <int> (it.q >> 16 & 255)
    cdef int128_t a, b, result = 0, limit = power_of_ten(<int> it.p)
    cdef bint overflows
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        a = decode_decimal(it.a.words + 2 * i)
        b = decode_decimal(it.b.words + 2 * i)
        if a == 0 or b == 0 or not wanted(it.out, i):
            encode_decimal(0, it.out.words + 2 * i)
            if b == 0:
                fail(it, i, it.message)
            continue
        digits = min(quotient_digits(a, a_scale, b, b_scale), scale)
        overflows = not divide(a, b, digits + b_scale - a_scale, &result)
        if not overflows and digits < scale:
            overflows = multiply_overflows(result, power_of_ten(scale - digits), &result)
        put(it, i, result, overflows, limit)


cdef void modulo_decimal(Frame* f, const Instruction* it) noexcept nogil:
    cdef int128_t b, limit = power_of_ten(<int> it.p)
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        b = decode_decimal(it.b.words + 2 * i)
        if b == 0 or not wanted(it.out, i):
            encode_decimal(0, it.out.words + 2 * i)
            fail(it, i, it.message)
        else:
            put(it, i, decode_decimal(it.a.words + 2 * i) % b, False, limit)


cdef void negate_decimal(Frame* f, const Instruction* it) noexcept nogil:
    cdef int128_t limit = power_of_ten(<int> it.p)
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put(it, i, -decode_decimal(it.a.words + 2 * i), False, limit)


cdef void abs_decimal(Frame* f, const Instruction* it) noexcept nogil:
    cdef int128_t value, limit = power_of_ten(<int> it.p)
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = decode_decimal(it.a.words + 2 * i)
        put(it, i, -value if value < 0 else value, False, limit)


cdef void rescale(Frame* f, const Instruction* it) noexcept nogil:
    """Appends `q` digits, or drops -`q`."""
    cdef int128_t value, limit = power_of_ten(<int> it.p)
    cdef int128_t unit = power_of_ten(<int> (it.q if it.q >= 0 else -it.q))
    cdef bint overflows = False
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = decode_decimal(it.a.words + 2 * i)
        if it.q > 0:
            overflows = multiply_overflows(value, unit, &value)
        elif it.q < 0:
            value = round_division(value, unit)
        put(it, i, value, overflows, limit)


cdef inline void round_digits(Frame* f, const Instruction* it, Rounding rounding) noexcept nogil:
    """Makes the last `q` digits zero."""
    cdef int128_t value, rest, limit = power_of_ten(<int> it.p), unit = power_of_ten(<int> it.q)
    cdef bint overflows
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = decode_decimal(it.a.words + 2 * i)
        if rounding == NEAREST:
            rest = round_division(value, unit)
        else:
            rest = value // unit
            if rounding == DOWN and value % unit < 0:
                rest -= 1
            elif rounding == UP and value % unit > 0:
                rest += 1
        overflows = multiply_overflows(rest, unit, &value)
        put(it, i, value, overflows, limit)


cdef void round_decimal(Frame* f, const Instruction* it) noexcept nogil:
    round_digits(f, it, NEAREST)


cdef void floor_decimal(Frame* f, const Instruction* it) noexcept nogil:
    round_digits(f, it, DOWN)


cdef void ceil_decimal(Frame* f, const Instruction* it) noexcept nogil:
    round_digits(f, it, UP)


KERNELS = {
    "add_decimal": <uintptr_t> <Kernel> add_decimal,
    "subtract_decimal": <uintptr_t> <Kernel> subtract_decimal,
    "multiply_decimal": <uintptr_t> <Kernel> multiply_decimal,
    "divide_decimal": <uintptr_t> <Kernel> divide_decimal,
    "modulo_decimal": <uintptr_t> <Kernel> modulo_decimal,
    "negate_decimal": <uintptr_t> <Kernel> negate_decimal,
    "abs_decimal": <uintptr_t> <Kernel> abs_decimal,
    "rescale": <uintptr_t> <Kernel> rescale,
    "round_decimal": <uintptr_t> <Kernel> round_decimal,
    "floor_decimal": <uintptr_t> <Kernel> floor_decimal,
    "ceil_decimal": <uintptr_t> <Kernel> ceil_decimal,
}
