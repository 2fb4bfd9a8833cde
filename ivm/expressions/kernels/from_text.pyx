"""Casts from text parse values without the GIL.

Dates are year-month-day, times hour:minute[:second[.fraction]] and a zone that has no effect, timestamps a
date, optionally followed by a time and a zone (Z or an offset). Moments in any other form are read by
`ivm.values.moment_text`, with the GIL. To an integer type, `p` to `q` is its range.
"""

from libc.math cimport isfinite, isinf
from libc.stdint cimport int64_t, uint64_t, uintptr_t

from ivm.rows.calendar cimport DAY_MICROS, days_from_civil, days_in_month
from ivm.expressions.kernels.decimals cimport power_of_ten
from ivm.rows.interner cimport view
from ivm.expressions.kernels.vectors cimport Frame, Instruction, Kernel, fail, start_strict
from ivm.rows.words cimport SIGN, encode_decimal, encode_double, encode_signed, int128_t

from ivm.values import moment_text

cdef extern from *:
    """
    #include <charconv>

    static bool ivm_parse_float(const char* data, const char* end, double* value) {
        std::from_chars_result result = std::from_chars(data, end, *value);
        return result.ec == std::errc() && result.ptr == end && end[-1] != ')';
    }
    """
    bint float_of "ivm_parse_float"(const char* data, const char* end, double* value) noexcept nogil

cdef enum:
    LONGEST_EXPONENT = 100000   # beyond it every number is 0 or out of range


# The rest of a text that is still to be read.
cdef struct Scanner:
    const char* at
    const char* end


cdef inline Scanner scan(const char* data, Py_ssize_t n) noexcept nogil:
    """Without the spaces on both sides."""
    cdef Scanner s
    s.at = data
    s.end = data + n
    while s.at < s.end and is_space(s.at[0]):
        s.at += 1
    while s.end > s.at and is_space((s.end - 1)[0]):
        s.end -= 1
    return s


cdef inline bint is_space(char c) noexcept nogil:
    return c == c' ' or (c'\t' <= c <= c'\r')


cdef inline bint is_digit(char c) noexcept nogil:
    return c'0' <= c <= c'9'


cdef inline bint accept(Scanner* s, char c) noexcept nogil:
    if s.at < s.end and s.at[0] == c:
        s.at += 1
        return True
    return False


cdef inline bint accept_sign(Scanner* s) noexcept nogil:
    """True for a minus; a plus is read too."""
    if accept(s, c'-'):
        return True
    accept(s, c'+')
    return False


cdef int read_number(Scanner* s, int most, int64_t* number) noexcept nogil:
    """Up to `most` digits; how many there were."""
    cdef int count = 0
    number[0] = 0
    while count < most and s.at < s.end and is_digit(s.at[0]):
        number[0] = number[0] * 10 + (s.at[0] - c'0')
        s.at += 1
        count += 1
    return count


cdef bint parse_integer(const char* data, Py_ssize_t n, int128_t* value) noexcept nogil:
    """Parses an integer of at most 30 digits; more are out of every range."""
    cdef Scanner s = scan(data, n)
    cdef bint negative = accept_sign(&s)
    cdef int128_t result = 0
    if s.at == s.end:
        return False
    while s.at < s.end:
        if not is_digit(s.at[0]) or result >= power_of_ten(30):
            return False
        result = result * 10 + (s.at[0] - c'0')
        s.at += 1
    value[0] = -result if negative else result
    return True


cdef int64_t mantissa_end(Scanner* s, int64_t* integer_digits) noexcept nogil:
    """Reads digits with at most one point: how many digits, and how many of them before the point."""
    cdef int64_t digits = 0
    cdef bint point = False
    while s.at < s.end and (is_digit(s.at[0]) or (s.at[0] == c'.' and not point)):
        if s.at[0] == c'.':
            point = True
            integer_digits[0] = digits
        else:
            digits += 1
        s.at += 1
    if not point:
        integer_digits[0] = digits
    return digits


cdef bint read_exponent(Scanner* s, int64_t* exponent) noexcept nogil:
    """An optional exponent that ends the text."""
    cdef bint negative
    exponent[0] = 0
    if s.at == s.end:
        return True
    if not accept(s, c'e') and not accept(s, c'E'):
        return False
    negative = accept_sign(s)
    if s.at == s.end:
        return False
    while s.at < s.end:
        if not is_digit(s.at[0]):
            return False
        if exponent[0] < LONGEST_EXPONENT:
            exponent[0] = exponent[0] * 10 + (s.at[0] - c'0')
        s.at += 1
    if negative:
        exponent[0] = -exponent[0]
    return True


cdef bint parse_decimal(
    const char* data, Py_ssize_t n, int precision, int scale, int128_t* value
) noexcept nogil:
    cdef Scanner s = scan(data, n)
    cdef bint negative = accept_sign(&s)
    cdef const char* digit = s.at
    cdef int64_t integer_digits = 0, exponent, weight
    cdef int64_t digits = mantissa_end(&s, &integer_digits)
    cdef int128_t result = 0, limit = power_of_ten(precision), tenth = power_of_ten(precision - 1)
    if digits == 0 or not read_exponent(&s, &exponent):
        return False
    # The power of ten, in units of the last digit kept, that the next digit counts.
    weight = integer_digits - 1 + exponent + scale
    while digits and weight >= 0:
        if digit[0] != c'.':
            if result >= tenth:
                return False
            result = result * 10 + (digit[0] - c'0')
            digits -= 1
            weight -= 1
        digit += 1
    if digits and digit[0] == c'.':
        digit += 1
    if digits and weight == -1 and digit[0] >= c'5':
        result += 1
    while weight >= 0 and result != 0:
        if result >= tenth:
            return False
        result *= 10
        weight -= 1
    value[0] = -result if negative else result
    return result < limit


cdef bint leaves_single(double value) noexcept nogil:
    cdef double single = <double> <float> value
    return (isinf(single) and isfinite(value)) or (single == 0 and value != 0)


cdef bint parse_float(const char* data, Py_ssize_t n, double* value) noexcept nogil:
    cdef Scanner s = scan(data, n)
    if s.end - s.at > 1 and s.at[0] == c'+' and s.at[1] != c'-':
        s.at += 1
    return s.at < s.end and float_of(s.at, s.end, value)


cdef bint parse_bool(const char* data, Py_ssize_t n, uint64_t* value) noexcept nogil:
    """A prefix of true, false, yes, no, on or off that says which, or 1 or 0; in any case."""
    cdef Scanner s = scan(data, n)
    cdef char word[5]
    cdef Py_ssize_t length = s.end - s.at, i
    if length < 1 or length > 5:
        return False
    for i in range(length):
        word[i] = s.at[i] | 0x20
    value[0] = (
        is_prefix(word, length, b"true") or is_prefix(word, length, b"yes")
        or (length == 2 and is_prefix(word, length, b"on")) or (length == 1 and s.at[0] == c'1')
    )
    return (
        value[0] or is_prefix(word, length, b"false") or is_prefix(word, length, b"no")
        or (length > 1 and is_prefix(word, length, b"off")) or (length == 1 and s.at[0] == c'0')
    )


cdef bint is_prefix(const char* word, Py_ssize_t n, const char* whole) noexcept nogil:
    cdef Py_ssize_t i
    for i in range(n):
        if whole[i] == 0 or word[i] != whole[i]:
            return False
    return True


cdef bint read_date(Scanner* s, int64_t* days) noexcept nogil:
    cdef int64_t year = 0, month = 0, day = 0
    if read_number(s, 4, &year) < 4 or year == 0 or not accept(s, c'-'):
        return False
    if not read_number(s, 2, &month) or not accept(s, c'-') or not read_number(s, 2, &day):
        return False
    if month < 1 or month > 12 or day < 1 or day > days_in_month(year, <int> month):
        return False
    days[0] = days_from_civil(year, <int> month, <int> day)
    return True


cdef bint read_time(Scanner* s, int64_t* micros) noexcept nogil:
    """Fractions have at most six digits; midnight may be 24:00."""
    cdef int64_t hour = 0, minute = 0, second = 0, fraction = 0
    cdef int digits = 0
    if not read_number(s, 2, &hour) or not accept(s, c':') or read_number(s, 2, &minute) != 2:
        return False
    if accept(s, c':'):
        if read_number(s, 2, &second) != 2:
            return False
        if accept(s, c'.'):
            digits = read_number(s, 6, &fraction)
            if digits == 0:
                return False
            fraction *= <int64_t> power_of_ten(6 - digits)
    micros[0] = ((hour * 60 + minute) * 60 + second) * 1_000_000 + fraction
    return minute < 60 and second <= 60 and hour < 25 and micros[0] <= DAY_MICROS


cdef bint read_zone(Scanner* s, int64_t* offset) noexcept nogil:
    """Microseconds east of UTC; a zone may be missing."""
    cdef int64_t hours = 0, minutes = 0
    cdef bint west
    offset[0] = 0
    accept(s, c' ')
    if s.at == s.end or accept(s, c'Z') or accept(s, c'z'):
        return True
    if s.at[0] != c'+' and s.at[0] != c'-':
        return False
    west = accept_sign(s)
    if read_number(s, 2, &hours) != 2:
        return False
    accept(s, c':')
    if s.at < s.end and read_number(s, 2, &minutes) != 2:
        return False
    offset[0] = (hours * 60 + minutes) * 60_000_000
    if west:
        offset[0] = -offset[0]
    return hours < 16 and minutes < 60


cdef bint read_timestamp(Scanner s, int64_t* days, int64_t* micros, int64_t* offset) noexcept nogil:
    micros[0] = offset[0] = 0
    if not read_date(&s, days):
        return False
    if accept(&s, c'T') or accept(&s, c' '):
        if not read_time(&s, micros) or not read_zone(&s, offset):
            return False
    return s.at == s.end


cdef bint read_clock(Scanner s, int64_t* micros) noexcept nogil:
    cdef int64_t offset = 0
    return read_time(&s, micros) and read_zone(&s, &offset) and s.at == s.end


# Why a text has no value, or that it has one.
cdef enum Outcome:
    READ
    WRONG
    OUT_OF_RANGE
    NO_MEMORY


cdef enum Moment:
    DATE
    TIME
    TIMESTAMP
    TIMESTAMPTZ


cdef Outcome read_moment(Moment kind, Scanner s, int64_t* value) noexcept with gil:
    """The value of a text in any form."""
    try:
        text = s.at[:s.end - s.at].decode()
        if kind == DATE:
            value[0] = moment_text.parse_date(text)
        elif kind == TIME:
            value[0] = moment_text.parse_time(text)
        else:
            value[0] = moment_text.parse_timestamp(text, kind == TIMESTAMPTZ)
    except OverflowError:
        return OUT_OF_RANGE
    except MemoryError:
        return NO_MEMORY
    except Exception:
        return WRONG
    return READ


cdef Outcome parse_date(const char* data, Py_ssize_t n, int64_t* days) noexcept nogil:
    cdef Scanner s = scan(data, n)
    cdef int64_t micros = 0, offset = 0
    if read_timestamp(s, days, &micros, &offset):
        return READ
    return read_moment(DATE, s, days)


cdef Outcome parse_timestamp(const char* data, Py_ssize_t n, bint zone, int64_t* value) noexcept nogil:
    """Microseconds of the instant; an offset counts only if `zone`."""
    cdef Scanner s = scan(data, n)
    cdef int64_t days = 0, micros = 0, offset = 0
    if read_timestamp(s, &days, &micros, &offset):
        value[0] = days * DAY_MICROS + micros - (offset if zone else 0)
        return READ
    return read_moment(TIMESTAMPTZ if zone else TIMESTAMP, s, value)


cdef Outcome parse_time(const char* data, Py_ssize_t n, int64_t* micros) noexcept nogil:
    cdef Scanner s = scan(data, n)
    if read_clock(s, micros):
        return READ
    return read_moment(TIME, s, micros)


cdef inline void settle(Frame* f, const Instruction* it, Py_ssize_t i, Outcome outcome) noexcept nogil:
    """Says of row `i` how its text was read."""
    if outcome == WRONG:
        fail(it, i, it.message)
    elif outcome == OUT_OF_RANGE:
        fail(it, i, it.overflow)
    elif outcome == NO_MEMORY:
        f.out_of_memory = True


cdef inline void text_to_integer(Frame* f, const Instruction* it, bint with_sign) noexcept nogil:
    cdef int128_t value = 0, highest = it.q
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, n
    if not with_sign:
        highest = <uint64_t> it.q
    start_strict(f, it)
    for i in range(f.n):
        data = view(f.strings, it.a.words[i], buffer, &n)
        if not parse_integer(data, n, &value):
            fail(it, i, it.message)
        elif value < it.p or value > highest:
            fail(it, i, it.overflow)
        it.out.words[i] = <uint64_t> value ^ (SIGN if with_sign else 0)


cdef void text_to_signed(Frame* f, const Instruction* it) noexcept nogil:
    text_to_integer(f, it, True)


cdef void text_to_unsigned(Frame* f, const Instruction* it) noexcept nogil:
    text_to_integer(f, it, False)


cdef void text_to_bool(Frame* f, const Instruction* it) noexcept nogil:
    cdef uint64_t value = 0
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, n
    start_strict(f, it)
    for i in range(f.n):
        data = view(f.strings, it.a.words[i], buffer, &n)
        if not parse_bool(data, n, &value):
            fail(it, i, it.message)
        it.out.words[i] = value


cdef void text_to_float(Frame* f, const Instruction* it) noexcept nogil:
    """`p` is 1 for float32."""
    cdef double value = 0
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, n
    start_strict(f, it)
    for i in range(f.n):
        data = view(f.strings, it.a.words[i], buffer, &n)
        if not parse_float(data, n, &value):
            fail(it, i, it.message)
        elif it.p:
            if leaves_single(value):
                fail(it, i, it.overflow)
            value = <float> value
        it.out.words[i] = encode_double(value)


cdef void text_to_decimal(Frame* f, const Instruction* it) noexcept nogil:
    """`p` is the precision, `q` the scale."""
    cdef int128_t value = 0
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, n
    start_strict(f, it)
    for i in range(f.n):
        data = view(f.strings, it.a.words[i], buffer, &n)
        if not parse_decimal(data, n, <int> it.p, <int> it.q, &value):
            fail(it, i, it.message)
        encode_decimal(value, it.out.words + 2 * i)


cdef void text_to_date(Frame* f, const Instruction* it) noexcept nogil:
    cdef int64_t value = 0
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, n
    start_strict(f, it)
    for i in range(f.n):
        data = view(f.strings, it.a.words[i], buffer, &n)
        settle(f, it, i, parse_date(data, n, &value))
        it.out.words[i] = encode_signed(value)


cdef void text_to_time(Frame* f, const Instruction* it) noexcept nogil:
    cdef int64_t value = 0
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, n
    start_strict(f, it)
    for i in range(f.n):
        data = view(f.strings, it.a.words[i], buffer, &n)
        settle(f, it, i, parse_time(data, n, &value))
        it.out.words[i] = encode_signed(value)


cdef void text_to_timestamp(Frame* f, const Instruction* it) noexcept nogil:
    """`p` is 1 with a time zone."""
    cdef int64_t value = 0
    cdef char buffer[8]
    cdef const char* data
    cdef Py_ssize_t i, n
    start_strict(f, it)
    for i in range(f.n):
        data = view(f.strings, it.a.words[i], buffer, &n)
        settle(f, it, i, parse_timestamp(data, n, it.p, &value))
        it.out.words[i] = encode_signed(value)


KERNELS = {
    "text_to_bool": <uintptr_t> <Kernel> text_to_bool,
    "text_to_signed": <uintptr_t> <Kernel> text_to_signed,
    "text_to_unsigned": <uintptr_t> <Kernel> text_to_unsigned,
    "text_to_float": <uintptr_t> <Kernel> text_to_float,
    "text_to_decimal": <uintptr_t> <Kernel> text_to_decimal,
    "text_to_date": <uintptr_t> <Kernel> text_to_date,
    "text_to_time": <uintptr_t> <Kernel> text_to_time,
    "text_to_timestamp": <uintptr_t> <Kernel> text_to_timestamp,
}
