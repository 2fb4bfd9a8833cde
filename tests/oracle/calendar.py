"""Functions of dates and timestamps: `function(result type, values…)`, no value NULL."""

from calendar import monthrange
from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import pyarrow as pa

from tests.oracle.values import Error, Outcome, has_zone

_EPOCH = datetime(1970, 1, 1)
_MICRO = timedelta(microseconds=1)


def _naive(value: date | datetime) -> datetime:
    if isinstance(value, datetime):
        return value.astimezone(UTC).replace(tzinfo=None) if value.tzinfo else value
    return datetime(value.year, value.month, value.day)


def add_days(kind: pa.DataType, day: date, n: int) -> Outcome:
    try:
        return day + timedelta(days=n)
    except OverflowError:
        return Error("date out of range")


def add_months(kind: pa.DataType, value: date | datetime, n: int) -> Outcome:
    """The same day `n` months on, clamped to the month's last."""
    months = value.year * 12 + value.month - 1 + n
    year, month = divmod(months, 12)
    if not 1 <= year <= 9999:
        return Error("date out of range")
    day = min(value.day, monthrange(year, month + 1)[1])
    return value.replace(year=year, month=month + 1, day=day)


def add_micros(kind: pa.DataType, value: datetime, n: int) -> Outcome:
    try:
        return value + timedelta(microseconds=n)
    except OverflowError:
        return Error("timestamp out of range")


def extract(kind: pa.DataType, field: str, value: date | datetime) -> Outcome:
    at = _naive(value)
    micros = (at - _EPOCH) // _MICRO
    match field.lower():
        case "epoch":
            return Decimal(micros).scaleb(-6)
        case "second":
            return Decimal(at.second * 1_000_000 + at.microsecond).scaleb(-6)
        case "year" | "month" | "day" | "hour" | "minute":
            return int(getattr(at, field.lower()))
        case "quarter":
            return (at.month + 2) // 3
        case "dow":
            return at.isoweekday() % 7
        case "isodow":
            return at.isoweekday()
        case "doy":
            return at.timetuple().tm_yday
        case "week":
            return at.isocalendar().week
        case "isoyear":
            return at.isocalendar().year
    raise AssertionError(f"the oracle cannot extract {field}")


def date_trunc(kind: pa.DataType, unit: str, value: date | datetime) -> Outcome:
    at = _naive(value)
    midnight = at.replace(hour=0, minute=0, second=0, microsecond=0)
    match unit.lower():
        case "microseconds":
            start = at
        case "milliseconds":
            start = at.replace(microsecond=at.microsecond // 1000 * 1000)
        case "second":
            start = at.replace(microsecond=0)
        case "minute":
            start = at.replace(second=0, microsecond=0)
        case "hour":
            start = at.replace(minute=0, second=0, microsecond=0)
        case "day":
            start = midnight
        case "week":
            start = midnight - timedelta(days=at.weekday())
        case "month":
            start = midnight.replace(day=1)
        case "quarter":
            start = midnight.replace(month=(at.month - 1) // 3 * 3 + 1, day=1)
        case "year":
            start = midnight.replace(month=1, day=1)
        case _:
            raise AssertionError(f"the oracle cannot truncate to {unit}")
    return start.replace(tzinfo=UTC) if has_zone(kind) else start


FUNCTIONS: dict[str, Callable[..., Outcome]] = {
    "add_days": add_days,
    "add_months": add_months,
    "add_micros": add_micros,
    "days_between": lambda kind, a, b: (a - b).days,
    "micros_between": lambda kind, a, b: (a - b) // _MICRO,
    "extract": extract,
    "date_trunc": date_trunc,
}
