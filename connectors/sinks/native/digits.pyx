"""Numbers, dates and times as texts, and numbers in Avro's binary form."""

from libc.stdint cimport int64_t, uint64_t
from libc.string cimport memcpy
from libcpp.string cimport string

cdef extern from *:
    """
    #include <charconv>
    typedef __int128 ivm_wide;
    typedef unsigned __int128 ivm_natural;
    template <typename T> static inline int ivm_digits(char* into, T value) {
        return std::to_chars(into, into + 24, value).ptr - into;
    }
    """
    ctypedef long long wide "ivm_wide"
    ctypedef unsigned long long natural_wide "ivm_natural"
    int digits "ivm_digits"[T](char* into, T value) noexcept nogil  # gives their number

cdef uint64_t TEN_TO_18 = 1_000_000_000_000_000_000
cdef int64_t SECOND = 1_000_000
cdef int64_t DAY = 86_400 * SECOND


cdef int integer(string* into, int64_t value) except -1 nogil:
    """An integer in decimal digits."""
    cdef char found[24]
    into.append(found, digits[int64_t](found, value))
    return 0


cdef int natural(string* into, uint64_t value) except -1 nogil:
    """An integer that is not negative in decimal digits."""
    cdef char found[24]
    into.append(found, digits[uint64_t](found, value))
    return 0


cdef int decimal(string* into, const char* cell, int scale) except -1 nogil:
    """The 16 bytes of a decimal, with all digits of its scale."""
    cdef char found[40]
    cdef wide value
    cdef natural_wide rest
    cdef int count
    memcpy(&value, cell, 16)
    if value < 0:
        into.push_back(c"-")
    rest = <natural_wide> -value if value < 0 else <natural_wide> value
    count = _wide_digits(found, rest)
    if count <= scale:
        into.push_back(c"0")
    else:
        into.append(found, count - scale)
    if scale:
        into.push_back(c".")
    if count <= scale:
        into.append(scale - count, c"0")
        into.append(found, count)
    else:
        into.append(found + count - scale, scale)
    return 0


cdef int _wide_digits(char* into, natural_wide value) noexcept nogil:
    """The decimal digits of a number of 128 bits, and their number."""
    cdef uint64_t low = <uint64_t> value
    cdef int count, i
    if value == low:
        return digits[uint64_t](into, low)
    count = _wide_digits(into, value // TEN_TO_18)
    low = <uint64_t> (value % TEN_TO_18)
    for i in range(17, -1, -1):
        into[count + i] = c"0" + <char> (low % 10)
        low //= 10
    return count + 18


cdef int date(string* into, int64_t days) except -1 nogil:
    """Days since 1970 as a date of ISO 8601, in a year of four digits.

    The algorithm `civil_from_days` of Howard Hinnant's "chrono-Compatible Low-Level Date
    Algorithms".
    """
    cdef int64_t shifted = days + 719_468
    cdef int64_t era = (shifted if shifted >= 0 else shifted - 146_096) // 146_097
    cdef int64_t of_era = shifted - era * 146_097
    cdef int64_t year = (of_era - of_era // 1_460 + of_era // 36_524 - of_era // 146_096) // 365
    cdef int64_t of_year = of_era - (365 * year + year // 4 - year // 100)
    cdef int64_t month = (5 * of_year + 2) // 153
    cdef int64_t day = of_year - (153 * month + 2) // 5 + 1
    month = month + 3 if month < 10 else month - 9
    year += era * 400 + (month <= 2)
    _padded(into, year, 4)
    into.push_back(c"-")
    _padded(into, month, 2)
    into.push_back(c"-")
    _padded(into, day, 2)
    return 0


cdef int clock(string* into, int64_t microseconds) except -1 nogil:
    """Microseconds of a day as a time of ISO 8601."""
    cdef int64_t seconds = microseconds // SECOND
    _padded(into, seconds // 3_600, 2)
    into.push_back(c":")
    _padded(into, seconds // 60 % 60, 2)
    into.push_back(c":")
    _padded(into, seconds % 60, 2)
    into.push_back(c".")
    _padded(into, microseconds % SECOND, 6)
    return 0


cdef int moment(string* into, int64_t microseconds) except -1 nogil:
    """Microseconds since 1970 as a timestamp of ISO 8601, in a year of four digits."""
    cdef int64_t days = microseconds // DAY
    if microseconds % DAY < 0:
        days -= 1
    date(into, days)
    into.push_back(c"T")
    clock(into, microseconds - days * DAY)
    return 0


cdef int varint(string* into, int64_t value) except -1 nogil:
    """A number in zigzag and groups of seven bits, the least first."""
    cdef uint64_t rest = (<uint64_t> value << 1) ^ <uint64_t> (value >> 63)
    while rest >= 0x80:
        into.push_back(<char> (rest & 0x7F | 0x80))
        rest >>= 7
    into.push_back(<char> rest)
    return 0


cdef int _padded(string* into, int64_t value, int width) except -1 nogil:
    cdef char found[8]
    cdef int at
    for at in range(width - 1, -1, -1):
        found[at] = c"0" + <char> (value % 10)
        value //= 10
    into.append(found, width)
    return 0
