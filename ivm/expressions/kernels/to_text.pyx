"""Casts to text write values in PostgreSQL's forms."""

from libc.math cimport isinf
from libc.stdint cimport int64_t, uintptr_t
from libc.stdio cimport snprintf
from libc.string cimport memcpy

from ivm.rows.calendar cimport DAY_MICROS, Civil, civil_from_days, floor_division
from ivm.expressions.kernels.decimals cimport magnitude, uint128_t
from ivm.expressions.kernels.text cimport put_string
from ivm.expressions.kernels.vectors cimport Frame, Instruction, Kernel, start_strict
from ivm.rows.words cimport decode_decimal, decode_double, decode_signed

cdef extern from *:
    """
    #include <charconv>
    #include <cmath>
    #include <cstdlib>
    #include <cstring>
    #include <limits>

    // The shortest digits that read back as the same value; an exponent below -4 is shown, and one
    // that is not below the digits that the type always keeps.
    template <class T> static int ivm_format_float(T value, char* out) {
        char* end = std::to_chars(out, out + 64, value, std::chars_format::scientific).ptr;
        *end = 0;
        int exponent = std::atoi(std::strchr(out, 'e') + 1);
        if (exponent >= -4 && exponent < std::numeric_limits<T>::digits10)
            end = std::to_chars(out, out + 64, value, std::chars_format::fixed).ptr;
        return (int) (end - out);
    }
    """
    int float_digits "ivm_format_float"(double value, char* out) noexcept nogil
    int float32_digits "ivm_format_float"(float value, char* out) noexcept nogil


cdef int format_integer(uint128_t value, bint negative, int least, char* out) noexcept nogil:
    """At least `least` digits."""
    cdef char digits[40]
    cdef int count = 0, n = 0
    while value or count < least:
        digits[count] = c'0' + <int> (value % 10)
        value //= 10
        count += 1
    if negative:
        out[0] = b"-"
        n = 1
    while count:
        count -= 1
        out[n] = digits[count]
        n += 1
    return n


cdef int format_decimal(int128_t value, int scale, char* out) noexcept nogil:
    cdef int n = format_integer(magnitude(value), value < 0, scale + 1, out), i
    if scale:
        for i in range(scale):
            out[n - i] = out[n - i - 1]
        out[n - scale] = b"."
        n += 1
    return n


cdef int format_date(int64_t days, char* out) noexcept nogil:
    cdef Civil date = civil_from_days(days)
    if date.year > 0:
        return snprintf(out, 64, b"%04lld-%02d-%02d", <long long> date.year, date.month, date.day)
    return snprintf(
        out, 64, b"%04lld-%02d-%02d BC", <long long> (1 - date.year), date.month, date.day
    )


cdef int format_time(int64_t micros, char* out) noexcept nogil:
    """Without trailing zeros after the point."""
    cdef int64_t seconds = micros // 1_000_000
    cdef int n = snprintf(
        out, 64, b"%02d:%02d:%02d.%06d", <int> (seconds // 3600), <int> (seconds // 60 % 60),
        <int> (seconds % 60), <int> (micros % 1_000_000),
    )
    while out[n - 1] == b"0" and n > 8:
        n -= 1
    return 8 if n == 9 else n


cdef int format_timestamp(int64_t micros, bint zone, char* out) noexcept nogil:
    """The suffix BC comes last, as in PostgreSQL."""
    cdef int64_t days = floor_division(micros, DAY_MICROS)
    cdef int n = format_date(days, out)
    cdef bint before_christ = out[n - 1] == b"C"
    if before_christ:
        n -= 3
    out[n] = b" "
    n += 1
    n += format_time(micros - days * DAY_MICROS, out + n)
    if zone:
        memcpy(out + n, b"+00", 3)
        n += 3
    if before_christ:
        memcpy(out + n, b" BC", 3)
        n += 3
    return n


cdef int format_float(double value, bint narrow, char* out) noexcept nogil:
    if value != value:
        memcpy(out, b"NaN", 3)
        return 3
    if isinf(value):
        memcpy(out, b"Infinity" if value > 0 else b"-Infinity", 9)
        return 8 if value > 0 else 9
    return float32_digits(<float> value, out) if narrow else float_digits(value, out)


cdef void bool_to_text(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        if it.a.words[i]:
            put_string(f, it, i, b"true", 4)
        else:
            put_string(f, it, i, b"false", 5)


cdef void signed_to_text(Frame* f, const Instruction* it) noexcept nogil:
    cdef char digits[64]
    cdef int128_t value
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = decode_signed(it.a.words[i])
        put_string(f, it, i, digits, format_integer(magnitude(value), value < 0, 1, digits))


cdef void unsigned_to_text(Frame* f, const Instruction* it) noexcept nogil:
    cdef char digits[64]
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_string(f, it, i, digits, format_integer(it.a.words[i], False, 1, digits))


cdef void float_to_text(Frame* f, const Instruction* it) noexcept nogil:
    """`p` is 1 for float32."""
    cdef char digits[64]
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_string(f, it, i, digits, format_float(decode_double(it.a.words[i]), it.p, digits))


cdef int without_zeros(const char* digits, int n, int scale) noexcept nogil:
    """The length of a decimal's text without zeros at the end of its fraction."""
    cdef int point = n - scale - 1
    if scale == 0:
        return n
    while n > point and digits[n - 1] == c"0":
        n -= 1
    return n - 1 if digits[n - 1] == c"." else n


cdef void decimal_to_text(Frame* f, const Instruction* it) noexcept nogil:
    """`q` is the scale; without zeros at the end if `p` is 1."""
    cdef char digits[64]
    cdef int n
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        n = format_decimal(decode_decimal(it.a.words + 2 * i), <int> it.q, digits)
        if it.p:
            n = without_zeros(digits, n, <int> it.q)
        put_string(f, it, i, digits, n)


cdef void date_to_text(Frame* f, const Instruction* it) noexcept nogil:
    cdef char digits[64]
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_string(f, it, i, digits, format_date(decode_signed(it.a.words[i]), digits))


cdef void time_to_text(Frame* f, const Instruction* it) noexcept nogil:
    cdef char digits[64]
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_string(f, it, i, digits, format_time(decode_signed(it.a.words[i]), digits))


cdef void timestamp_to_text(Frame* f, const Instruction* it) noexcept nogil:
    """`p` is 1 with a time zone."""
    cdef char digits[64]
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        put_string(
            f, it, i, digits, format_timestamp(decode_signed(it.a.words[i]), it.p, digits)
        )


KERNELS = {
    "bool_to_text": <uintptr_t> <Kernel> bool_to_text,
    "signed_to_text": <uintptr_t> <Kernel> signed_to_text,
    "unsigned_to_text": <uintptr_t> <Kernel> unsigned_to_text,
    "float_to_text": <uintptr_t> <Kernel> float_to_text,
    "decimal_to_text": <uintptr_t> <Kernel> decimal_to_text,
    "date_to_text": <uintptr_t> <Kernel> date_to_text,
    "time_to_text": <uintptr_t> <Kernel> time_to_text,
    "timestamp_to_text": <uintptr_t> <Kernel> timestamp_to_text,
}
