# The proleptic Gregorian calendar on days since 1970-01-01, after Hinnant, "chrono-Compatible
# Low-Level Date Algorithms": years begin in March, so that the leap day is the last.

from libc.stdint cimport int64_t

cdef extern from *:
    """
    #define IVM_DAY_MICROS 86400000000ll
    """
    const int64_t DAY_MICROS "IVM_DAY_MICROS"


cdef struct Civil:
    int64_t year
    int month   # from 1
    int day     # from 1


cdef inline int64_t floor_division(int64_t a, int64_t b) noexcept nogil:
    return a // b - (a % b < 0)


cdef inline int64_t days_from_civil(int64_t year, int month, int day) noexcept nogil:
    cdef int64_t y = year - (month <= 2), era = floor_division(y, 400), year_of_era = y - era * 400
    cdef int64_t day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    cdef int64_t leap_days = year_of_era // 4 - year_of_era // 100
    return era * 146097 + year_of_era * 365 + leap_days + day_of_year - 719468


cdef inline Civil civil_from_days(int64_t days) noexcept nogil:
    cdef Civil date
    cdef int64_t z = days + 719468, era = floor_division(z, 146097), day_of_era = z - era * 146097
    cdef int64_t year_of_era = (
        day_of_era - day_of_era // 1460 + day_of_era // 36524 - day_of_era // 146096
    ) // 365
    cdef int64_t leap_days = year_of_era // 4 - year_of_era // 100
    cdef int64_t day_of_year = day_of_era - (365 * year_of_era + leap_days)
    cdef int64_t shifted = (5 * day_of_year + 2) // 153
    date.day = <int> (day_of_year - (153 * shifted + 2) // 5 + 1)
    date.month = <int> (shifted + 3 if shifted < 10 else shifted - 9)
    date.year = year_of_era + era * 400 + (date.month <= 2)
    return date


cdef inline bint is_leap(int64_t year) noexcept nogil:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)


cdef inline int days_in_month(int64_t year, int month) noexcept nogil:
    if month == 2:
        return 29 if is_leap(year) else 28
    return 30 if month == 4 or month == 6 or month == 9 or month == 11 else 31


# 0 for Monday.
cdef inline int weekday(int64_t days) noexcept nogil:
    return <int> (days + 3 - floor_division(days + 3, 7) * 7)
