"""Columns of typed values that grow by a token at a time, and become Arrow's.

A token is appended only if `connectors.columns` would make the same value of it; otherwise it is
refused, whether it is at fault or only unusual.
"""

from libc.math cimport isinf
from libc.stdint cimport INT32_MAX, INT64_MIN, int32_t, int64_t, uint8_t
from libc.string cimport memcpy, memset
from libcpp.vector cimport vector

from cpython.bytes cimport PyBytes_FromStringAndSize

import numpy as np

from connectors.native.json_text cimport unescape
from connectors.native.tokens cimport (
    ABSENT,
    BYTES,
    ESCAPED,
    FALSEHOOD,
    INTEGER,
    LONG,
    NULLED,
    NUMBER,
    PLAIN,
    REAL,
    TRUTH,
    Token,
    is_text,
)

cdef extern from *:
    """
    #include <charconv>
    typedef __int128 ivm_int128;
    template <typename T> static inline bool ivm_spelled(const char* at, const char* stop, T* into) {
        auto found = std::from_chars(at, stop, *into);
        return found.ec == std::errc() && found.ptr == stop;
    }
    """
    ctypedef long long int128 "ivm_int128"
    bint spelled "ivm_spelled"[T](const char*, const char*, T*) noexcept nogil

# Digits that any int64 holds, and that any double does.
cdef int LONG_DIGITS = 18
cdef int DOUBLE_DIGITS = 15
cdef int64_t DOUBLE_BOUND = <int64_t> 1 << 53
cdef int DECIMAL_DIGITS = 38
# Counts of microseconds that look like milliseconds or seconds: see `connectors.columns.to_arrow`.
cdef int64_t DOUBTFUL_FROM = 100_000_000
cdef int64_t DOUBTFUL_TO = 7_258_118_400_000
cdef int64_t SECOND = 1_000_000
cdef int64_t DAY = 86_400 * SECOND


cdef bint append(Column* column, const Token* token) except -1 nogil:
    """Append the value of a token; False, and nothing is appended, where it is refused."""
    cdef const Shape* shape = &column.shape
    cdef bint is_taken
    if token.kind == ABSENT or token.kind == NULLED:
        if not shape.is_nullable or (token.kind == ABSENT and not shape.is_optional):
            return False
        append_null(column)
        return True
    if shape.form == TEXTS:
        is_taken = _text(column, token)
    elif shape.form == INTEGERS:
        is_taken = _integer(column, token)
    elif shape.form == COUNTS:
        is_taken = _count(column, token)
    elif shape.form == DECIMALS:
        is_taken = _decimal(column, token)
    elif shape.form == UNSCALED:
        is_taken = _unscaled(column, token)
    elif shape.form == VERBATIM:
        is_taken = _verbatim(column, token)
    elif shape.form == CONTENTS:
        is_taken = token.kind == PLAIN or token.kind == BYTES
        if is_taken:
            column.data.insert(column.data.end(), token.start, token.stop)
            is_taken = _ended(column)
    elif shape.form == TRUTHS:
        is_taken = token.kind == TRUTH or token.kind == FALSEHOOD
        if is_taken:
            column.data.push_back(token.kind == TRUTH)
    elif shape.form == BASE64:
        is_taken = token.kind == BYTES or token.kind == PLAIN
        if token.kind == BYTES:
            column.data.insert(column.data.end(), token.start, token.stop)
        elif is_taken:
            is_taken = from_base64(token, &column.data)
        if is_taken:
            is_taken = _ended(column)
    else:
        is_taken = _double(column, token)
    if is_taken:
        column.valid.push_back(1)
    return is_taken


cdef int append_null(Column* column) except -1 nogil:
    """Append NULL."""
    if column.shape.width:
        column.data.resize(column.data.size() + column.shape.width)
    else:
        column.ends.push_back(<int32_t> column.data.size())
    column.valid.push_back(0)
    column.nulls += 1
    return 0


cdef int cut(Column* column, size_t rows) except -1 nogil:
    """Leave the first rows alone."""
    cdef size_t i
    for i in range(rows, column.valid.size()):
        column.nulls -= not column.valid[i]
    column.valid.resize(rows)
    if column.shape.width:
        column.data.resize(rows * column.shape.width)
    else:
        column.ends.resize(rows)
        column.data.resize(column.ends[rows - 1] if rows else 0)
    return 0


cdef object buffers_of(Column* column):
    """The number of NULLs and the buffers that an Arrow array of these values has, as bytes."""
    valid = np.frombuffer(_bytes_of(column.valid.data(), column.valid.size()), np.uint8)
    bits = np.packbits(valid, bitorder="little").tobytes() if column.nulls else None
    content = _bytes_of(column.data.data(), column.data.size())
    if column.shape.form == TRUTHS:
        content = np.packbits(np.frombuffer(content, np.uint8), bitorder="little").tobytes()
    if column.shape.width:
        return column.nulls, [bits, content]
    ends = bytes(4) + _bytes_of(<char*> column.ends.data(), 4 * column.ends.size())
    return column.nulls, [bits, ends, content]


cdef inline object _bytes_of(const char* start, size_t size):
    return PyBytes_FromStringAndSize(start, size) if size else b""


cdef inline int _push(Column* column, const void* value) except -1 nogil:
    cdef size_t size = column.data.size()
    column.data.resize(size + column.shape.width)
    memcpy(column.data.data() + size, value, column.shape.width)
    return 0


cdef inline bint _ended(Column* column) except -1 nogil:
    """Whether the last value fits; it is none otherwise."""
    if column.data.size() > INT32_MAX:
        column.data.resize(column.ends.back() if column.ends.size() else 0)
        return False
    column.ends.push_back(<int32_t> column.data.size())
    return True


cdef bint _text(Column* column, const Token* token) except -1 nogil:
    if token.kind == PLAIN:
        column.data.insert(column.data.end(), token.start, token.stop)
    elif token.kind == ESCAPED:
        unescape(token, &column.data)
    else:
        return False
    return _ended(column)


cdef bint _verbatim(Column* column, const Token* token) except -1 nogil:
    cdef int quote = is_text(token)
    column.data.insert(column.data.end(), token.start - quote, token.stop + quote)
    return _ended(column)


cdef bint _integer(Column* column, const Token* token) except -1 nogil:
    cdef int64_t value = 0
    if column.shape.is_spelled:
        if token.kind != PLAIN or not to_long(token.start, token.stop, &value):
            return False
    elif not whole(token, &value):
        return False
    if not column.shape.least <= value <= column.shape.most:
        return False
    _push(column, &value)  # the lowest bytes come first
    return True


cdef bint _double(Column* column, const Token* token) except -1 nogil:
    cdef const char* start = token.start
    cdef Py_ssize_t length = token.stop - start
    cdef double wide = 0
    cdef float narrow
    if column.shape.is_spelled:
        if token.kind != PLAIN or not is_number(start, token.stop):
            return False
    elif token.kind == INTEGER:
        if length > DOUBLE_DIGITS or (start[0] == c"-" and start[1] == c"0"):
            return False
    elif token.kind == LONG:
        if not -DOUBLE_BOUND < token.number < DOUBLE_BOUND:
            return False
        wide = token.number
    elif token.kind == REAL:
        wide = token.real
    elif token.kind != NUMBER:
        return False
    if token.kind == LONG or token.kind == REAL:
        narrow = <float> wide
    elif column.shape.is_spelled and column.shape.form == FLOATS:
        if not spelled[float](start, token.stop, &narrow):
            return False
    elif not spelled[double](start, token.stop, &wide):
        return False
    elif column.shape.form == FLOATS:
        narrow = <float> wide
    if column.shape.form == DOUBLES:
        _push(column, &wide)
        return True
    if isinf(narrow) and not isinf(wide):
        return False
    _push(column, &narrow)
    return True


cdef bint is_number(const char* at, const char* stop) noexcept nogil:
    """Whether a text is digits, perhaps with a sign and a point, few enough for any double."""
    cdef int points = 0
    if stop - at > 1 and at[0] == c"-":
        at += 1
    if at == stop or stop - at > LONG_DIGITS or at[0] == c"." or stop[-1] == c".":
        return False
    while at < stop:
        if at[0] == c".":
            points += 1
        elif not c"0" <= at[0] <= c"9":
            return False
        at += 1
    return points <= 1


cdef bint _decimal(Column* column, const Token* token) except -1 nogil:
    cdef int128 value = 0
    cdef const char* at = token.start
    cdef int digits = 0, fraction = -1
    cdef bint is_negative
    if column.shape.is_spelled and token.kind != PLAIN:
        return False
    if token.kind == LONG:
        return _scaled(column, token.number, 0)
    if token.kind != PLAIN and token.kind != INTEGER and token.kind != NUMBER:
        return False
    is_negative = at < token.stop and at[0] == c"-"
    at += is_negative
    while at < token.stop:
        if at[0] == c"." and fraction < 0 and digits > 0:
            fraction = 0
        elif c"0" <= at[0] <= c"9" and digits < DECIMAL_DIGITS:
            value = value * 10 + (at[0] - c"0")
            digits += 1
            fraction += fraction >= 0
        else:
            return False
        at += 1
    if fraction == 0:
        return False
    fraction = max(fraction, 0)
    if digits == 0 or digits - fraction > column.shape.precision - column.shape.scale:
        return False
    return _scaled(column, -value if is_negative else value, fraction)


cdef bint _scaled(Column* column, int128 value, int scale) except -1 nogil:
    """Append digits of this scale, which has no more than the column's, if they fit."""
    cdef int128 bound = 1
    cdef int i
    if scale > column.shape.scale:
        return False
    for i in range(column.shape.precision - (column.shape.scale - scale)):
        bound *= 10
    if not -bound < value < bound:
        return False
    for i in range(column.shape.scale - scale):
        value *= 10
    _push(column, &value)
    return True


cdef bint _unscaled(Column* column, const Token* token) except -1 nogil:
    cdef uint8_t content[16]
    cdef int128 value
    cdef int i, length
    if token.kind == BYTES:
        length = <int> min(token.stop - token.start, 17)
        if length <= 16:
            memcpy(content, token.start, length)
    elif token.kind == PLAIN and 4 <= token.stop - token.start <= 24:
        length = few_from_base64(token, content)
    else:
        return False
    if not 1 <= length <= 16:
        return False
    value = -1 if content[0] & 0x80 else 0
    for i in range(length):
        value = value * 256 + content[i]
    return _scaled(column, value, column.shape.written)


cdef int few_from_base64(const Token* token, uint8_t* content) except -1 nogil:
    """The number of bytes, up to 16, in base64; 0 where they are more, or refused."""
    cdef vector[char] found
    if not from_base64(token, &found) or found.size() > 16:
        return 0
    memcpy(content, found.data(), found.size())
    return <int> found.size()


cdef bint from_base64(const Token* token, vector[char]* into) except -1 nogil:
    """Append the bytes that a text in base64 stands for; nothing where it is refused."""
    cdef const char* at = token.start
    cdef Py_ssize_t length = token.stop - at
    cdef size_t before = into.size()
    cdef int bits = 0, count = 0, digit, padding = 0
    if length & 3:
        return False
    if length and token.stop[-1] == c"=":
        padding = 2 if token.stop[-2] == c"=" else 1
    while at < token.stop - padding:
        digit = digit_of(at[0])
        if digit < 0:
            into.resize(before)
            return False
        bits = (bits << 6 | digit) & 0xFFFFFF
        count += 6
        if count >= 8:
            count -= 8
            into.push_back(<char> (bits >> count & 0xFF))
        at += 1
    if bits & ((1 << count) - 1):
        into.resize(before)
        return False
    return True


cdef inline int digit_of(char letter) noexcept nogil:
    if c"A" <= letter <= c"Z":
        return letter - c"A"
    if c"a" <= letter <= c"z":
        return letter - c"a" + 26
    if c"0" <= letter <= c"9":
        return letter - c"0" + 52
    return 62 if letter == c"+" else 63 if letter == c"/" else -1


cdef bint _count(Column* column, const Token* token) except -1 nogil:
    cdef const Shape* shape = &column.shape
    cdef int64_t value = 0, size
    if (token.kind == INTEGER or token.kind == LONG) and not shape.is_spelled:
        if not whole(token, &value) or value == INT64_MIN:
            return False
        size = -value if value < 0 else value
        if shape.is_guarded and DOUBTFUL_FROM <= size < DOUBTFUL_TO:
            return False
        if shape.times > 1 and size > shape.most // shape.times:
            return False
        value *= shape.times
        if value % shape.parts:
            return False
        value //= shape.parts
    elif token.kind != PLAIN or not _iso(shape.clock, token, &value):
        return False
    if not shape.least <= value <= shape.most:
        return False
    _push(column, &value)
    return True


cdef bint whole(const Token* token, int64_t* into) noexcept nogil:
    """The integer that a token is; False if it is none, or written in an unusual way."""
    if token.kind == LONG:
        into[0] = token.number
        return True
    return token.kind == INTEGER and to_long(token.start, token.stop, into)


cdef bint to_long(const char* at, const char* stop, int64_t* into) noexcept nogil:
    """The integer of these digits, unless they are many or minus nought."""
    cdef bint is_negative = at < stop and at[0] == c"-"
    cdef int64_t value = 0
    at += is_negative
    if at == stop or stop - at > LONG_DIGITS:
        return False
    while at < stop:
        if not c"0" <= at[0] <= c"9":
            return False
        value = value * 10 + (at[0] - c"0")
        at += 1
    into[0] = -value if is_negative else value
    return value != 0 or not is_negative


cdef bint _iso(Clock clock, const Token* token, int64_t* into) noexcept nogil:
    """Days or microseconds of an ISO text in its fullest form."""
    cdef const char* at = token.start
    cdef const char* stop = token.stop
    cdef int64_t days = 0, micros = 0, offset = 0
    if clock == TIME:
        return _clock(at, stop, True, into)
    if clock == NEITHER or stop - at < 10 or not _date(at, &days):
        return False
    if clock == DATE:
        into[0] = days
        return stop - at == 10
    if stop - at < 19 or (at[10] != c"T" and at[10] != c" "):
        return False
    if clock == ZONED:
        if stop[-1] == c"Z":
            stop -= 1
        elif (stop[-6] == c"+" or stop[-6] == c"-") and _offset(stop - 5, &offset):
            if stop[-6] == c"-":
                offset = -offset
            stop -= 6
        else:
            return False
    if not _clock(at + 11, stop, False, &micros):
        return False
    into[0] = days * DAY + micros - offset
    return True


cdef inline int _two(const char* at) noexcept nogil:
    """The number of two digits, or one beyond all that have two."""
    if not (c"0" <= at[0] <= c"9" and c"0" <= at[1] <= c"9"):
        return 100
    return (at[0] - c"0") * 10 + (at[1] - c"0")


cdef bint _offset(const char* at, int64_t* into) noexcept nogil:
    """The microseconds of an offset `HH:MM`."""
    cdef int hours = _two(at), minutes = _two(at + 3)
    if hours > 14 or minutes > 59 or at[2] != c":":
        return False
    into[0] = (hours * 60 + minutes) * 60 * SECOND
    return True


cdef bint _clock(const char* at, const char* stop, bint is_time, int64_t* into) noexcept nogil:
    """The microseconds of `HH:MM:SS` and, perhaps, a fraction."""
    cdef int hours, minutes, seconds, i
    cdef Py_ssize_t digits = stop - at - 9
    cdef int64_t fraction = 0
    if stop - at < 8 or at[2] != c":" or at[5] != c":":
        return False
    hours, minutes, seconds = _two(at), _two(at + 3), _two(at + 6)
    if hours > 23 or minutes > 59 or seconds > 59:
        return False
    if digits >= 0:
        if at[8] != c"." or digits > 6 or digits < 1 or (is_time and digits != 3 and digits != 6):
            return False
        for i in range(6):
            if i < digits and not c"0" <= at[9 + i] <= c"9":
                return False
            fraction = fraction * 10 + (at[9 + i] - c"0" if i < digits else 0)
    into[0] = ((hours * 60 + minutes) * 60 + seconds) * SECOND + fraction
    return True


cdef bint _date(const char* at, int64_t* into) noexcept nogil:
    """The days since the epoch of `YYYY-MM-DD`."""
    cdef int high = _two(at), low = _two(at + 2), month = _two(at + 5), day = _two(at + 8)
    cdef int64_t year = high * 100 + low, era, of_era
    cdef int last
    if high > 99 or low > 99 or at[4] != c"-" or at[7] != c"-" or year == 0:
        return False
    if not 1 <= month <= 12:
        return False
    last = 28 if month == 2 else 30 if month in (4, 6, 9, 11) else 31
    if month == 2 and year % 4 == 0 and (year % 100 != 0 or year % 400 == 0):
        last = 29
    if not 1 <= day <= last:
        return False
    # Counted from March on, so that a leap day ends a year.
    year -= month <= 2
    era, of_era = year // 400, year % 400
    into[0] = (
        era * 146_097 + of_era * 365 + of_era // 4 - of_era // 100
        + (153 * ((month + 9) % 12) + 2) // 5 + day - 1 - 719_468
    )
    return True
