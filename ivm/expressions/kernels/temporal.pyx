"""Temporal kernels compute on dates and timestamps: days and microseconds since 1970-01-01 (UTC).

`q` is the microseconds of the argument's unit: 1 for a timestamp, those of a day for a date.
"""

from libc.stdint cimport int64_t, uintptr_t

from ivm.rows.calendar cimport (
    DAY_MICROS, Civil, civil_from_days, days_from_civil, days_in_month, floor_division, weekday,
)
from ivm.expressions.kernels.vectors cimport Frame, Instruction, Kernel, fail, start_strict
from ivm.rows.words cimport decode_signed, encode_decimal, encode_signed, int128_t

cdef enum Field:
    CENTURY
    DAY
    DECADE
    DOW
    DOY
    EPOCH
    HOUR
    ISODOW
    ISOYEAR
    MICROSECONDS
    MILLENNIUM
    MILLISECONDS
    MINUTE
    MONTH
    QUARTER
    SECOND
    WEEK
    YEAR


# The instant of a date or timestamp, taken apart.
cdef struct Moment:
    int64_t days
    int64_t micros   # since midnight
    Civil date


cdef inline Moment moment_of(int64_t value, int64_t unit) noexcept nogil:
    cdef Moment moment
    if unit == 1:
        moment.days = floor_division(value, DAY_MICROS)
        moment.micros = value - moment.days * DAY_MICROS
    else:
        moment.days = value
        moment.micros = 0
    moment.date = civil_from_days(moment.days)
    return moment


cdef void add_months(Frame* f, const Instruction* it) noexcept nogil:
    """The same day `b` months later, or that month's last."""
    cdef int64_t months, year, days, lowest = -2147483648, highest = 2147483647
    cdef Moment moment
    cdef int month, last
    cdef Py_ssize_t i
    start_strict(f, it)
    if it.q == 1:
        lowest = -106751991
        highest = 106751990
    for i in range(f.n):
        it.out.words[i] = 0
        months = decode_signed(it.b.words[i])
        if months > 100_000_000 or months < -100_000_000:
            fail(it, i, it.overflow)
            continue
        moment = moment_of(decode_signed(it.a.words[i]), it.q)
        months += moment.date.year * 12 + moment.date.month - 1
        year = floor_division(months, 12)
        month = <int> (months - year * 12) + 1
        last = days_in_month(year, month)
        days = days_from_civil(year, month, moment.date.day if moment.date.day < last else last)
        if days < lowest or days > highest:
            fail(it, i, it.overflow)
        elif it.q == 1:
            it.out.words[i] = encode_signed(days * DAY_MICROS + moment.micros)
        else:
            it.out.words[i] = encode_signed(days)


cdef int64_t first_week(int64_t year) noexcept nogil:
    """The Monday of the ISO week that holds 4 January."""
    cdef int64_t fourth = days_from_civil(year, 1, 4)
    return fourth - weekday(fourth)


cdef int64_t iso_year(const Moment* moment) noexcept nogil:
    if moment.days >= first_week(moment.date.year + 1):
        return moment.date.year + 1
    return moment.date.year - (moment.days < first_week(moment.date.year))


cdef inline int64_t period(int64_t year, int64_t length) noexcept nogil:
    """Centuries and millennia count from 1, and backwards from -1: there is no year 0."""
    return (year + length - 1) // length if year > 0 else -((length - year) // length)


cdef int64_t field_of(const Moment* moment, Field field) noexcept nogil:
    cdef int64_t year = moment.date.year
    if field == YEAR:
        return year if year > 0 else year - 1
    if field == MONTH:
        return moment.date.month
    if field == DAY:
        return moment.date.day
    if field == HOUR:
        return moment.micros // 3_600_000_000ll
    if field == MINUTE:
        return moment.micros // 60_000_000 % 60
    if field == SECOND:
        return moment.micros // 1_000_000 % 60
    if field == MILLISECONDS:
        return moment.micros // 1000 % 60_000
    if field == MICROSECONDS:
        return moment.micros % 60_000_000
    if field == EPOCH:
        return moment.days * 86_400 + moment.micros // 1_000_000
    if field == QUARTER:
        return (moment.date.month + 2) // 3
    if field == DOW:
        return (weekday(moment.days) + 1) % 7
    if field == ISODOW:
        return weekday(moment.days) + 1
    if field == DOY:
        return moment.days - days_from_civil(year, 1, 1) + 1
    if field == WEEK:
        return (moment.days - first_week(iso_year(moment))) // 7 + 1
    if field == ISOYEAR:
        year = iso_year(moment)
        return year if year > 0 else year - 1
    if field == DECADE:
        return floor_division(year, 10)
    return period(year, 100 if field == CENTURY else 1000)


cdef void extract(Frame* f, const Instruction* it) noexcept nogil:
    """Field `p` as an integer, rounded down."""
    cdef Moment moment
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        moment = moment_of(decode_signed(it.a.words[i]), it.q)
        it.out.words[i] = encode_signed(field_of(&moment, <Field> it.p))


cdef void extract_micros(Frame* f, const Instruction* it) noexcept nogil:
    """EPOCH, SECOND or MILLISECONDS (`p`) as a decimal of precision 38 and scale 6."""
    cdef int128_t value
    cdef Moment moment
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        moment = moment_of(decode_signed(it.a.words[i]), it.q)
        if it.p == EPOCH:
            value = <int128_t> moment.days * DAY_MICROS + moment.micros
        elif it.p == SECOND:
            value = moment.micros % 60_000_000
        else:
            value = moment.micros % 60_000_000 * 1000
        encode_decimal(value, it.out.words + 2 * i)


cdef int64_t first_day(const Moment* moment, Field unit) noexcept nogil:
    """The first day of the year, week and so on that the moment lies in."""
    cdef int64_t year = moment.date.year
    cdef int month = 1
    if unit == DAY:
        return moment.days
    if unit == WEEK:
        return moment.days - weekday(moment.days)
    if unit == MONTH:
        month = moment.date.month
    elif unit == QUARTER:
        month = (moment.date.month - 1) // 3 * 3 + 1
    elif unit == DECADE:
        year = floor_division(year, 10) * 10
    elif unit == CENTURY:
        year = floor_division(year - 1, 100) * 100 + 1
    elif unit == MILLENNIUM:
        year = floor_division(year - 1, 1000) * 1000 + 1
    return days_from_civil(year, month, 1)


cdef void truncate(Frame* f, const Instruction* it) noexcept nogil:
    """The last instant that begins a unit `p` of at least a day."""
    cdef int128_t value
    cdef Moment moment
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        moment = moment_of(decode_signed(it.a.words[i]), it.q)
        value = <int128_t> first_day(&moment, <Field> it.p) * DAY_MICROS
        it.out.words[i] = encode_signed(<int64_t> value)
        if value != <int64_t> value:
            fail(it, i, it.overflow)


cdef void truncate_micros(Frame* f, const Instruction* it) noexcept nogil:
    """A timestamp rounded down to a multiple of `p` microseconds."""
    cdef int64_t value
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = decode_signed(it.a.words[i])
        it.out.words[i] = encode_signed(floor_division(value, it.p) * it.p)


cdef void date_to_timestamp(Frame* f, const Instruction* it) noexcept nogil:
    cdef int128_t value
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        value = <int128_t> decode_signed(it.a.words[i]) * DAY_MICROS
        it.out.words[i] = encode_signed(<int64_t> value)
        if value != <int64_t> value:
            fail(it, i, it.overflow)


cdef void timestamp_to_date(Frame* f, const Instruction* it) noexcept nogil:
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        it.out.words[i] = encode_signed(floor_division(decode_signed(it.a.words[i]), DAY_MICROS))


cdef void timestamp_to_time(Frame* f, const Instruction* it) noexcept nogil:
    cdef Moment moment
    cdef Py_ssize_t i
    start_strict(f, it)
    for i in range(f.n):
        moment = moment_of(decode_signed(it.a.words[i]), 1)
        it.out.words[i] = encode_signed(moment.micros)


FIELDS = {
    "century": CENTURY,
    "day": DAY,
    "decade": DECADE,
    "dow": DOW,
    "doy": DOY,
    "epoch": EPOCH,
    "hour": HOUR,
    "isodow": ISODOW,
    "isoyear": ISOYEAR,
    "microseconds": MICROSECONDS,
    "millennium": MILLENNIUM,
    "milliseconds": MILLISECONDS,
    "minute": MINUTE,
    "month": MONTH,
    "quarter": QUARTER,
    "second": SECOND,
    "week": WEEK,
    "year": YEAR,
}

KERNELS = {
    "add_months": <uintptr_t> <Kernel> add_months,
    "extract": <uintptr_t> <Kernel> extract,
    "extract_micros": <uintptr_t> <Kernel> extract_micros,
    "truncate": <uintptr_t> <Kernel> truncate,
    "truncate_micros": <uintptr_t> <Kernel> truncate_micros,
    "date_to_timestamp": <uintptr_t> <Kernel> date_to_timestamp,
    "timestamp_to_date": <uintptr_t> <Kernel> timestamp_to_date,
    "timestamp_to_time": <uintptr_t> <Kernel> timestamp_to_time,
}
