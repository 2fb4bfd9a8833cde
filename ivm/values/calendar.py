"""Days since 1970-01-01 and dates of the proleptic Gregorian calendar, of any year.

After Hinnant, "chrono-Compatible Low-Level Date Algorithms", as in `ivm/rows/calendar.pxd`.
"""

DAY = 86_400_000_000
HOUR = 3_600_000_000
MINUTE = 60_000_000
SECOND = 1_000_000
_MIDDLE = 946_684_800_000_000  # 2000-01-01


def rounded(micros: int, digits: int) -> int:
    """Round to digits of seconds, half away from zero.

    >>> rounded(-1_250_000, 1)
    -1300000
    """
    unit: int = 10 ** (6 - digits)
    whole = (abs(micros) + unit // 2) // unit * unit
    return -whole if micros < 0 else whole


def rounded_timestamp(micros: int, digits: int) -> int:
    """Round microseconds since 1970 to digits of seconds, half away from 2000-01-01.

    So does PostgreSQL, whose timestamps count from there.

    >>> rounded_timestamp(1_250_000, 0)
    1000000
    """
    return _MIDDLE + rounded(micros - _MIDDLE, digits)


def civil(days: int) -> tuple[int, int, int]:
    """Give the year, month and day of a day counted from 1970-01-01; the year before 1 is 0.

    >>> civil(19_782)
    (2024, 2, 29)
    """
    z = days + 719_468
    era, day_of_era = divmod(z, 146_097)
    leaps = day_of_era // 1460 - day_of_era // 36_524 + day_of_era // 146_096
    year_of_era = (day_of_era - leaps) // 365
    day_of_year = day_of_era - (365 * year_of_era + year_of_era // 4 - year_of_era // 100)
    shifted = (5 * day_of_year + 2) // 153
    day = day_of_year - (153 * shifted + 2) // 5 + 1
    month = shifted + 3 if shifted < 10 else shifted - 9
    return year_of_era + era * 400 + (month <= 2), month, day


def days_of(year: int, month: int, day: int) -> int:
    """Count the days from 1970-01-01 to a date: the inverse of `civil`.

    >>> days_of(1970, 1, 2), days_of(2024, 2, 29)
    (1, 19782)
    """
    y = year - (month <= 2)
    era, year_of_era = divmod(y, 400)
    day_of_year = (153 * (month + (-3 if month > 2 else 9)) + 2) // 5 + day - 1
    leaps = year_of_era // 4 - year_of_era // 100
    return era * 146_097 + year_of_era * 365 + leaps + day_of_year - 719_468


def month_days(year: int, month: int) -> int:
    """Count the days of a month: 28, 29, 30 or 31.

    >>> month_days(2024, 2), month_days(1900, 2)
    (29, 28)
    """
    if month == 2:
        return 29 if year % 4 == 0 and (year % 100 != 0 or year % 400 == 0) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def checked_days(year: int, month: int, day: int) -> int:
    """Count the days to a date as `days_of`; raises ValueError if there is no such date.

    >>> checked_days(2024, 2, 29)
    19782
    """
    if not (1 <= month <= 12 and 1 <= day <= month_days(year, month)):
        raise ValueError(f"{year}-{month}-{day}")
    return days_of(year, month, day)


def shifted(micros: int, months: int) -> int:
    """Move a timestamp, in microseconds, by months; beyond its month's end it takes the last day.

    >>> civil(shifted(days_of(2024, 1, 31) * DAY, 1) // DAY)
    (2024, 2, 29)
    """
    days, rest = divmod(micros, DAY)
    year, month, day = civil(days)
    count = year * 12 + month - 1 + months
    year, month = count // 12, count % 12 + 1
    return days_of(year, month, min(day, month_days(year, month))) * DAY + rest
