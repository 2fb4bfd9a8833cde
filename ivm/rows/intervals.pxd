# Intervals as strings of 24 bytes: equal intervals are equal strings, and strings order by the span.
#
# The span is the interval's microseconds where a month has 30 days and a day 24 hours. It comes first,
# in 16 bytes, then the months and the days, in 4 each; all big-endian with their sign bits flipped.

from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.string cimport memcpy

from ivm.rows.calendar cimport DAY_MICROS
from ivm.rows.words cimport SIGN, int128_t

cdef extern from *:
    uint64_t interval_swap64 "__builtin_bswap64"(uint64_t) noexcept nogil
    uint32_t interval_swap32 "__builtin_bswap32"(uint32_t) noexcept nogil

cdef enum:
    INTERVAL_BYTES = 24


cdef struct Interval:
    int32_t months
    int32_t days
    int64_t micros      # at most 2^63 / 1000 either way, as Arrow counts nanoseconds


cdef inline int128_t span_of(Interval value) noexcept nogil:
    cdef int64_t days = <int64_t> value.months * 30 + value.days
    return <int128_t> days * DAY_MICROS + value.micros


cdef inline void pack_interval(Interval value, char* out) noexcept nogil:
    cdef int128_t span = span_of(value)
    cdef uint64_t high = interval_swap64(<uint64_t> (span >> 64) ^ SIGN)
    cdef uint64_t low = interval_swap64(<uint64_t> span)
    cdef uint32_t months = interval_swap32(<uint32_t> value.months ^ 0x80000000u)
    cdef uint32_t days = interval_swap32(<uint32_t> value.days ^ 0x80000000u)
    memcpy(out, &high, 8)
    memcpy(out + 8, &low, 8)
    memcpy(out + 16, &months, 4)
    memcpy(out + 20, &days, 4)


# The interval of `n` bytes; no time at all where they are none, as where a row is NULL.
cdef inline Interval unpack_interval(const char* data, Py_ssize_t n) noexcept nogil:
    cdef Interval value
    cdef uint64_t low
    cdef uint32_t months, days
    if n != INTERVAL_BYTES:
        value.months = value.days = 0
        value.micros = 0
        return value
    memcpy(&low, data + 8, 8)
    memcpy(&months, data + 16, 4)
    memcpy(&days, data + 20, 4)
    value.months = <int32_t> (interval_swap32(months) ^ 0x80000000u)
    value.days = <int32_t> (interval_swap32(days) ^ 0x80000000u)
    low = interval_swap64(low)
    low -= <uint64_t> (<int64_t> value.months * 30 + value.days) * <uint64_t> DAY_MICROS
    value.micros = <int64_t> low
    return value
