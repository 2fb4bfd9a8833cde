"""Numeric casts convert between booleans and numbers.

To an integer type, `p` to `q` is its range. To decimal, `p` is the precision and `q` the scale; from
decimal, `q` is the scale. To float, `p` is 1 for float32.
"""

from libc.math cimport rint
from libc.stdint cimport uint64_t, uintptr_t
from libc.stdio cimport snprintf
from libc.string cimport strlen

from ivm.expressions.kernels.decimals cimport power_of_ten
from ivm.expressions.kernels.to_text cimport format_decimal
from ivm.expressions.kernels.from_text cimport leaves_single, parse_decimal, parse_float
from ivm.expressions.kernels.vectors cimport Frame, Instruction, Kernel, fail, start_strict
from ivm.rows.words cimport (
    SIGN, decode_decimal, decode_double, decode_signed, encode_decimal, encode_double,
    encode_signed, int128_t,
)

cdef enum:
    EXACT_DIGITS = 22  # the greatest power of ten that a double holds exactly


cdef inline void put_integer(
    const Instruction* it, Py_ssize_t i, int128_t value, bint with_sign
) noexcept nogil:
    cdef int128_t highest = it.q
    if not with_sign:
        highest = <uint64_t> it.q
    it.out.words[i] = <uint64_t> value ^ (SIGN if with_sign else 0)
    if value < it.p or value > highest:
        fail(it, i, it.overflow)


cdef void signed_to_signed(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_integer(it, i, decode_signed(it.a.words[i]), True)


cdef void signed_to_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_integer(it, i, decode_signed(it.a.words[i]), False)


cdef void unsigned_to_signed(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_integer(it, i, it.a.words[i], True)


cdef void unsigned_to_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_integer(it, i, it.a.words[i], False)


cdef void word_to_bool(Frame* f, const Instruction* it) noexcept nogil:
    """False for the word of zero, which is bit 63 alone if `p` is 1, else 0."""
    cdef uint64_t zero = SIGN if it.p else 0
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = it.a.words[i] != zero


cdef inline void put_float(const Instruction* it, Py_ssize_t i, double value) noexcept nogil:
    it.out.words[i] = encode_double(<double> <float> value if it.p else value)


cdef void signed_to_float(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_float(it, i, <double> decode_signed(it.a.words[i]))


cdef void unsigned_to_float(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_float(it, i, <double> it.a.words[i])


cdef void float_to_float(Frame* f, const Instruction* it) noexcept nogil:
    cdef double value
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = decode_double(it.a.words[i])
        put_float(it, i, value)
        if it.p and leaves_single(value):
            fail(it, i, it.overflow)


cdef inline void float_to_integer(Frame* f, const Instruction* it, bint with_sign) noexcept nogil:
    """Rounded half to even."""
    cdef double value
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = rint(decode_double(it.a.words[i]))
        if -1e30 < value < 1e30:
            put_integer(it, i, <int128_t> value, with_sign)
        else:
            it.out.words[i] = 0
            fail(it, i, it.overflow)


cdef void float_to_signed(Frame* f, const Instruction* it) noexcept nogil:
    float_to_integer(f, it, True)


cdef void float_to_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    float_to_integer(f, it, False)


cdef inline void put_decimal(
    const Instruction* it, Py_ssize_t i, int128_t integer, int128_t unit, int128_t limit
) noexcept nogil:
    """`integer` times `unit`, which cannot overflow: they have at most 20 and 38 digits."""
    if integer >= limit or integer <= -limit:
        encode_decimal(0, it.out.words + 2 * i)
        fail(it, i, it.overflow)
    else:
        encode_decimal(integer * unit, it.out.words + 2 * i)


cdef void signed_to_decimal(Frame* f, const Instruction* it) noexcept nogil:
    cdef int128_t unit = power_of_ten(<int> it.q), limit = power_of_ten(<int> (it.p - it.q))
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_decimal(it, i, decode_signed(it.a.words[i]), unit, limit)


cdef void unsigned_to_decimal(Frame* f, const Instruction* it) noexcept nogil:
    cdef int128_t unit = power_of_ten(<int> it.q), limit = power_of_ten(<int> (it.p - it.q))
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_decimal(it, i, <int128_t> it.a.words[i], unit, limit)


cdef void decimal_to_signed(Frame* f, const Instruction* it) noexcept nogil:
    """Casts a decimal without digits after the point."""
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_integer(it, i, decode_decimal(it.a.words + 2 * i), True)


cdef void decimal_to_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    """Casts a decimal without digits after the point."""
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_integer(it, i, decode_decimal(it.a.words + 2 * i), False)


cdef void decimal_to_bool(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = decode_decimal(it.a.words + 2 * i) != 0


cdef void decimal_to_float(Frame* f, const Instruction* it) noexcept nogil:
    """The nearest float: one exact division where both sides are exact, else by way of text."""
    cdef double unit = <double> power_of_ten(<int> it.q), nearest = 0
    cdef int128_t value, exact = <int128_t> 1 << 53
    cdef char digits[64]
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = decode_decimal(it.a.words + 2 * i)
        if it.q <= EXACT_DIGITS and -exact <= value <= exact:
            put_float(it, i, <double> value / unit)
        else:
            parse_float(digits, format_decimal(value, <int> it.q, digits), &nearest)
            put_float(it, i, nearest)


cdef inline void float_to_digits(
    Frame* f, const Instruction* it, const char* form
) noexcept nogil:
    """Keeps the digits that the float type always keeps, as PostgreSQL: 15 or 6."""
    cdef int128_t value = 0
    cdef char digits[64]
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        snprintf(digits, sizeof(digits), form, decode_double(it.a.words[i]))
        if not parse_decimal(digits, strlen(digits), <int> it.p, <int> it.q, &value):
            value = 0
            fail(it, i, it.overflow)
        encode_decimal(value, it.out.words + 2 * i)


cdef void float_to_decimal(Frame* f, const Instruction* it) noexcept nogil:
    float_to_digits(f, it, b"%.15g")


cdef void float32_to_decimal(Frame* f, const Instruction* it) noexcept nogil:
    float_to_digits(f, it, b"%.6g")


cdef void bool_to_signed(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = encode_signed(it.a.words[i])


KERNELS = {
    "signed_to_signed": <uintptr_t> <Kernel> signed_to_signed,
    "signed_to_unsigned": <uintptr_t> <Kernel> signed_to_unsigned,
    "unsigned_to_signed": <uintptr_t> <Kernel> unsigned_to_signed,
    "unsigned_to_unsigned": <uintptr_t> <Kernel> unsigned_to_unsigned,
    "word_to_bool": <uintptr_t> <Kernel> word_to_bool,
    "signed_to_float": <uintptr_t> <Kernel> signed_to_float,
    "unsigned_to_float": <uintptr_t> <Kernel> unsigned_to_float,
    "float_to_float": <uintptr_t> <Kernel> float_to_float,
    "float_to_signed": <uintptr_t> <Kernel> float_to_signed,
    "float_to_unsigned": <uintptr_t> <Kernel> float_to_unsigned,
    "signed_to_decimal": <uintptr_t> <Kernel> signed_to_decimal,
    "unsigned_to_decimal": <uintptr_t> <Kernel> unsigned_to_decimal,
    "decimal_to_signed": <uintptr_t> <Kernel> decimal_to_signed,
    "decimal_to_unsigned": <uintptr_t> <Kernel> decimal_to_unsigned,
    "decimal_to_bool": <uintptr_t> <Kernel> decimal_to_bool,
    "decimal_to_float": <uintptr_t> <Kernel> decimal_to_float,
    "float_to_decimal": <uintptr_t> <Kernel> float_to_decimal,
    "float32_to_decimal": <uintptr_t> <Kernel> float32_to_decimal,
    "bool_to_signed": <uintptr_t> <Kernel> bool_to_signed,
}
