"""Arithmetic kernels compute on integers and floats.

Integers are computed in 128 bits and must then lie in `p` to `q`, the range of the result's type.
A float result that is infinite although its arguments are finite is an overflow, and so is a product or
quotient that is zero although no argument is.
"""

from libc.math cimport ceil, fabs, floor, fmod, isfinite, isinf, isnan, pow, rint
from libc.stdint cimport int64_t, uint64_t, uintptr_t

from ivm.expressions.kernels.vectors cimport Frame, Instruction, Kernel, fail, start_strict
from ivm.rows.words cimport (
    SIGN, decode_double, decode_signed, encode_double, encode_signed, int128_t,
)

cdef enum Operation:
    ADD
    SUBTRACT
    MULTIPLY
    DIVIDE
    MODULO
    NEGATE
    ABSOLUTE
    ROUND


cdef inline int128_t wide(uint64_t word, bint with_sign) noexcept nogil:
    return <int128_t> decode_signed(word) if with_sign else <int128_t> word


cdef void add_signed(Frame* f, const Instruction* it) noexcept nogil:
    """Looks for overflows only where the whole vector has one, so that the sum itself vectorises."""
    cdef int64_t a, b, sum_, outside = 0
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        a = decode_signed(it.a.words[i])
        b = decode_signed(it.b.words[i])
        sum_ = <int64_t> (<uint64_t> a + <uint64_t> b)
        outside |= ((a ^ sum_) & (b ^ sum_)) >> 63 | (sum_ < it.p) | (sum_ > it.q)
        it.out.words[i] = encode_signed(sum_)
    if outside:
        find_overflows(f, it, ADD)


cdef void subtract_signed(Frame* f, const Instruction* it) noexcept nogil:
    cdef int64_t a, b, difference, outside = 0
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        a = decode_signed(it.a.words[i])
        b = decode_signed(it.b.words[i])
        difference = <int64_t> (<uint64_t> a - <uint64_t> b)
        outside |= ((a ^ b) & (a ^ difference)) >> 63 | (difference < it.p) | (difference > it.q)
        it.out.words[i] = encode_signed(difference)
    if outside:
        find_overflows(f, it, SUBTRACT)


cdef void find_overflows(Frame* f, const Instruction* it, Operation operation) noexcept nogil:
    cdef int128_t result
    cdef Py_ssize_t i
    for i in range(f.n):
        result = decode_signed(it.a.words[i])
        if operation == ADD:
            result += decode_signed(it.b.words[i])
        else:
            result -= decode_signed(it.b.words[i])
        if result < it.p or result > it.q:
            fail(it, i, it.overflow)


cdef inline int128_t rounded(int128_t value, int128_t unit) noexcept nogil:
    """The nearest multiple of `unit`, half away from zero."""
    cdef int128_t rest = value % unit
    value -= rest
    if 2 * rest >= unit:
        return value + unit
    return value - unit if -2 * rest >= unit else value


cdef inline void integers(
    Frame* f, const Instruction* it, Operation operation, bint with_sign
) noexcept nogil:
    cdef int128_t a, b = 0, result, lowest = it.p, highest = it.q
    cdef Py_ssize_t i
    start_strict(f, it)
    if not with_sign:
        lowest = 0
        highest = <uint64_t> it.q
    for i in range(f.n):
        a = wide(it.a.words[i], with_sign)
        if operation != NEGATE and operation != ABSOLUTE:
            b = wide(it.b.words[i], with_sign)
        if (operation == DIVIDE or operation == MODULO) and b == 0:
            it.out.words[i] = 0
            fail(it, i, it.message)
            continue
        if operation == ADD:
            result = a + b
        elif operation == SUBTRACT:
            result = a - b
        elif operation == MULTIPLY:
            result = a * b
        elif operation == DIVIDE:
            result = a // b
        elif operation == MODULO:
            result = a % b
        elif operation == NEGATE:
            result = -a
        elif operation == ABSOLUTE:
            result = -a if a < 0 else a
        else:
            result = rounded(a, b)
        it.out.words[i] = <uint64_t> result ^ (SIGN if with_sign else 0)
        if result < lowest or result > highest:
            fail(it, i, it.overflow)


cdef void multiply_signed(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, MULTIPLY, True)


cdef void divide_signed(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, DIVIDE, True)


cdef void modulo_signed(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, MODULO, True)


cdef void negate_signed(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, NEGATE, True)


cdef void abs_signed(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, ABSOLUTE, True)


cdef void round_signed(Frame* f, const Instruction* it) noexcept nogil:
    """`b` is the unit, a power of ten."""
    integers(f, it, ROUND, True)


cdef void add_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, ADD, False)


cdef void subtract_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, SUBTRACT, False)


cdef void multiply_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, MULTIPLY, False)


cdef void divide_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, DIVIDE, False)


cdef void modulo_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, MODULO, False)


cdef void negate_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    integers(f, it, NEGATE, False)


cdef inline void floats(Frame* f, const Instruction* it, Operation operation) noexcept nogil:
    """`p` is 1 where the result is a float32."""
    cdef double a, b, result
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        a = decode_double(it.a.words[i])
        b = decode_double(it.b.words[i])
        if (operation == DIVIDE or operation == MODULO) and b == 0 and not isnan(a):
            it.out.words[i] = 0
            fail(it, i, it.message)
            continue
        if operation == ADD:
            result = a + b
        elif operation == SUBTRACT:
            result = a - b
        elif operation == MULTIPLY:
            result = a * b
        elif operation == DIVIDE:
            result = a / b
        else:
            result = fmod(a, b)
        if it.p:
            result = <float> result
        it.out.words[i] = encode_double(result)
        if isinf(result) and isfinite(a) and isfinite(b):
            fail(it, i, it.overflow)
        elif result == 0 and a != 0 and (
            (operation == MULTIPLY and b != 0) or (operation == DIVIDE and isfinite(b))
        ):
            fail(it, i, it.overflow)


cdef void add_float(Frame* f, const Instruction* it) noexcept nogil:
    floats(f, it, ADD)


cdef void subtract_float(Frame* f, const Instruction* it) noexcept nogil:
    floats(f, it, SUBTRACT)


cdef void multiply_float(Frame* f, const Instruction* it) noexcept nogil:
    floats(f, it, MULTIPLY)


cdef void divide_float(Frame* f, const Instruction* it) noexcept nogil:
    floats(f, it, DIVIDE)


cdef void modulo_float(Frame* f, const Instruction* it) noexcept nogil:
    floats(f, it, MODULO)


cdef void negate_float(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = encode_double(-decode_double(it.a.words[i]))


cdef void abs_float(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = encode_double(fabs(decode_double(it.a.words[i])))


cdef void floor_float(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = encode_double(floor(decode_double(it.a.words[i])))


cdef void ceil_float(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = encode_double(ceil(decode_double(it.a.words[i])))


cdef void round_float(Frame* f, const Instruction* it) noexcept nogil:
    """Rounds to `p` digits after the point, half to even; a scale that overflows changes nothing."""
    cdef double scale = pow(10.0, fabs(<double> it.p)), value, scaled
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = decode_double(it.a.words[i])
        scaled = value * scale if it.p >= 0 else value / scale
        if isfinite(scaled):
            value = rint(scaled) / scale if it.p >= 0 else rint(scaled) * scale
        it.out.words[i] = encode_double(value)


KERNELS = {
    "add_signed": <uintptr_t> <Kernel> add_signed,
    "subtract_signed": <uintptr_t> <Kernel> subtract_signed,
    "multiply_signed": <uintptr_t> <Kernel> multiply_signed,
    "divide_signed": <uintptr_t> <Kernel> divide_signed,
    "modulo_signed": <uintptr_t> <Kernel> modulo_signed,
    "negate_signed": <uintptr_t> <Kernel> negate_signed,
    "abs_signed": <uintptr_t> <Kernel> abs_signed,
    "round_signed": <uintptr_t> <Kernel> round_signed,
    "add_unsigned": <uintptr_t> <Kernel> add_unsigned,
    "subtract_unsigned": <uintptr_t> <Kernel> subtract_unsigned,
    "multiply_unsigned": <uintptr_t> <Kernel> multiply_unsigned,
    "divide_unsigned": <uintptr_t> <Kernel> divide_unsigned,
    "modulo_unsigned": <uintptr_t> <Kernel> modulo_unsigned,
    "negate_unsigned": <uintptr_t> <Kernel> negate_unsigned,
    "add_float": <uintptr_t> <Kernel> add_float,
    "subtract_float": <uintptr_t> <Kernel> subtract_float,
    "multiply_float": <uintptr_t> <Kernel> multiply_float,
    "divide_float": <uintptr_t> <Kernel> divide_float,
    "modulo_float": <uintptr_t> <Kernel> modulo_float,
    "negate_float": <uintptr_t> <Kernel> negate_float,
    "abs_float": <uintptr_t> <Kernel> abs_float,
    "floor_float": <uintptr_t> <Kernel> floor_float,
    "ceil_float": <uintptr_t> <Kernel> ceil_float,
    "round_float": <uintptr_t> <Kernel> round_float,
}
