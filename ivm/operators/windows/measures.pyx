"""Measures of RANGE frames: the value at a distance from a row's in the one column that orders.

A distance is added to the row's value in the order, or subtracted if the order is descending: 5 PRECEDING of
20 is 15, or 25 where the order descends. Of moments it may have calendar months, which come first: a month
after January 31 is the last of February, and so is a month after January 30. Intervals are as long as their
microseconds, with months of 30 days, as they compare. The rules, of infinite floats too, are PostgreSQL's
`in_range` functions.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint64_t

from ivm.operators.aggregates.cell cimport cell_of, is_null as is_null_cell, read_cell
from ivm.rows.calendar cimport (
    DAY_MICROS, Civil, civil_from_days, days_from_civil, days_in_month, floor_division,
)
from ivm.rows.intervals cimport span_of, unpack_interval
from ivm.rows.interner cimport Interner, view
from ivm.rows.layout cimport DECIMAL, FLOAT, STRING, UNSIGNED
from ivm.rows.words cimport (
    decode_decimal, decode_double, decode_signed, encode_decimal, encode_double, encode_signed, int128_t,
)
from ivm.trace.times cimport compare_words

import pyarrow as pa

from ivm.dataflow.aggregates import Calendar
from ivm.rows.layout import kind_of

cdef extern from *:
    """
    static inline int ivm_add(ivm_int128 a, ivm_int128 b, ivm_int128* sum) {
        return __builtin_add_overflow(a, b, sum);
    }
    """
    bint add_overflows "ivm_add"(int128_t a, int128_t b, int128_t* sum) noexcept nogil

cdef enum:
    MOST_MONTHS = 100_000_000
    LONGEST_MONTH = 31
    ENDS_OF_MONTHS = 4      # days within which the targets of rows may be out of order


cdef int128_t _wide(value):
    cdef int128_t high = <int64_t> (value >> 64)
    return (high << 64) | <int128_t> <uint64_t> (value & 0xFFFFFFFFFFFFFFFF)


cdef Distance _distance(end) except *:
    cdef Distance away
    away.months, away.units, away.real = 0, 0, 0
    if isinstance(end, Calendar):
        away.months = end.months
        away.units = _wide(end.micros)
    elif isinstance(end, float):
        away.real = end
    else:
        away.units = _wide(end or 0)
        away.real = end or 0
    return away


def _longest(end, is_date):
    """The most that an end can be away, in units of the column."""
    if not isinstance(end, Calendar):
        return abs(end or 0)
    days = abs(end.months) * LONGEST_MONTH + ENDS_OF_MONTHS + abs(end.micros) // DAY_MICROS + 1
    return days if is_date else days * DAY_MICROS


cdef class Measure:
    """The column at `place`, of type `type_`, and the ends `start` and `end` of a frame by distance."""

    def __init__(self, start, end, place, type_, Interner interner):
        self.cell = cell_of(place)
        self.kind = kind_of(type_)
        self.is_date = pa.types.is_date(type_)
        self.interner = interner
        self.near = _distance(start)
        self.far = _distance(end)
        self.wavers = isinstance(start, Calendar) or isinstance(end, Calendar)
        widest = max(_longest(start, self.is_date), _longest(end, self.is_date))
        # A float subtracted from one value may be a little short for the way back from the other.
        self.widest = _distance(4 * widest if self.kind == FLOAT else widest)

    cdef bint is_null(self, const uint64_t* val) noexcept nogil:
        return is_null_cell(&self.cell, val)

    cdef bint reaches(self, const uint64_t* earlier, const uint64_t* later) noexcept nogil:
        cdef Target target
        if self.is_null(earlier):
            return self.is_null(later)
        target = self.target(earlier, &self.widest, False)
        return self.compare(later, earlier, &target) <= 0

    cdef Target start_of(self, const uint64_t* val) noexcept nogil:
        return self.target(val, &self.near, True)

    cdef Target end_of(self, const uint64_t* val) noexcept nogil:
        return self.target(val, &self.far, False)

    cdef Target target(self, const uint64_t* val, const Distance* away, bint is_start) noexcept nogil:
        cdef Target target
        cdef uint64_t given[2]
        cdef bint down = self.cell.flip != 0
        cdef double real
        cdef int w
        target.beyond = 0
        target.words[1] = 0
        read_cell(&self.cell, val, given)
        if away.months != 0:
            self.move_months(given, away, is_start != down, &target)
        elif self.kind == FLOAT:
            real = decode_double(given[0])
            if real == real:
                real += -away.real if down else away.real
                if real != real:        # from one infinity towards the other: all numbers are within
                    real = -INFINITY if is_start != down else INFINITY
            target.words[0] = encode_double(real)
        else:
            self.move_exactly(given, -away.units if down else away.units, &target)
        if down:
            target.beyond = -target.beyond
        for w in range(self.cell.words):
            target.words[w] ^= self.cell.flip
        return target

    # Moves by units; `beyond` is said of ascending values.
    cdef void move_exactly(self, const uint64_t* given, int128_t units, Target* target) noexcept nogil:
        cdef int128_t value
        cdef int sign = 1 if units > 0 else -1
        if self.kind == STRING:
            target.span = self.span_at(given[0]) + units
        elif self.kind == DECIMAL:
            if add_overflows(decode_decimal(given), units, &value):
                target.beyond = sign
            encode_decimal(value, target.words)
        elif self.kind == UNSIGNED:
            if add_overflows(<int128_t> given[0], units, &value) or value < 0 or value >> 64 != 0:
                target.beyond = sign
            target.words[0] = <uint64_t> value
        else:
            if add_overflows(decode_signed(given[0]), units, &value) or value != <int64_t> value:
                target.beyond = sign
            target.words[0] = encode_signed(<int64_t> value)

    # Moves a date or a moment by months and microseconds, to a whole day `up` or down from there.
    cdef void move_months(self, const uint64_t* given, const Distance* away, bint up,
                          Target* target) noexcept nogil:
        cdef int64_t base = decode_signed(given[0])
        cdef int64_t day = base if self.is_date else floor_division(base, DAY_MICROS)
        cdef int64_t within = 0 if self.is_date else base - day * DAY_MICROS
        cdef int64_t sign = -1 if self.cell.flip != 0 else 1
        cdef Civil date = civil_from_days(day)
        cdef int64_t months = date.year * 12 + date.month - 1 + sign * away.months
        cdef int64_t year = floor_division(months, 12)
        cdef int month = <int> (months - year * 12) + 1
        cdef int128_t value
        target.words[0] = 0
        if away.months > MOST_MONTHS or away.months < -MOST_MONTHS:
            target.beyond = 1 if sign * away.months > 0 else -1
            return
        day = days_from_civil(year, month, min(date.day, days_in_month(year, month)))
        value = <int128_t> day * DAY_MICROS + within + sign * away.units
        if self.is_date:
            value = (value + (DAY_MICROS - 1 if up else 0))
            value = value / DAY_MICROS - (1 if value % DAY_MICROS < 0 else 0)
        if value != <int64_t> value:
            target.beyond = 1 if value > 0 else -1
        target.words[0] = encode_signed(<int64_t> value)

    cdef int128_t span_at(self, uint64_t word) noexcept nogil:
        cdef char buffer[8]
        cdef Py_ssize_t n
        cdef const char* data = view(self.interner.strings, word, buffer, &n)
        return span_of(unpack_interval(data, n))

    cdef int compare(self, const uint64_t* val, const uint64_t* current,
                     const Target* target) noexcept nogil:
        cdef int at = self.cell.null_word, order
        cdef int128_t span
        if at >= 0 and val[at] != current[at]:
            return -1 if val[at] < current[at] else 1
        if target.beyond != 0:
            return -target.beyond
        if self.kind == STRING:
            span = self.span_at(val[self.cell.word] ^ self.cell.flip)
            order = -1 if span < target.span else 1 if span > target.span else 0
            return -order if self.cell.flip != 0 else order
        return compare_words(val + self.cell.word, target.words, self.cell.words)
