"""Typed scalar expressions over one row: the trees that `Map` and `Filter` evaluate.

Types are Arrow's. Every argument already has the type that its function wants: whoever builds
an expression inserts the casts. A NULL is a value; unless the table below says otherwise a
function of a NULL is NULL. An expression never raises: a division by zero, an overflow or a bad
cast yields an *error value* that follows the data flow of the expression, so that
`case(eq(b, 0), NULL, divide(a, b))` has no error where `b` is 0.

Functions (T: any type; N: a number type; the result's type is the call's own `type`):

| name | arguments | result |
| --- | --- | --- |
| add subtract | N, N of the result's type (decimals: of its scale) | N; overflow is an error |
| multiply | N, N; decimals of any scales s1, s2 | N; decimals: rounded half away from zero |
| divide modulo | N, N | N; integers truncate, decimals round; by zero is an error |
| negate abs | N | N |
| round floor ceil | N | N; `round(x, literal int64)` also |
| add_days | date32, int64 | date32 |
| add_months | date32 or timestamp, int64 | the same, clamped to the month's last day |
| add_micros | timestamp, int64 | timestamp |
| days_between micros_between | date32 pair; timestamp pair: first minus second | int64 |
| eq ne lt le gt ge | T, T of one type | bool |
| is_distinct is_not_distinct | T, T | bool, never NULL |
| is_null is_not_null | T | bool, never NULL |
| and or | bool, two or more | bool, three-valued |
| not | bool | bool |
| case | c1, v1, c2, v2, …, otherwise | value of the first true condition |
| coalesce | T, … | first that is not NULL |
| greatest least | T, … | ignores NULLs |
| cast | any | its type; a bad cast is an error |
| lower upper trim ltrim rtrim | utf8 | utf8 |
| concat | utf8, utf8, … | utf8 |
| length | utf8 | int32, characters |
| substring | utf8, int64 start from 1, int64 length | utf8 |
| replace | utf8, utf8, utf8 | utf8 |
| split_part | utf8, utf8, int64 | utf8 |
| position | utf8 in which, utf8 what | int32, from 1, or 0 |
| starts_with | utf8, utf8 | bool |
| like ilike | utf8, literal utf8 pattern | bool |
| extract | literal utf8 field, date32 or timestamp | int64; `epoch`, `second`: decimal128 |
| date_trunc | literal utf8 unit, date32 or timestamp | timestamp |
"""

from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa

Value = bool | int | float | Decimal | str | bytes | date | time | datetime | UUID | tuple[Any, ...]
"""A constant: a list is a tuple, an interval an `Arrow.MonthDayNano`, which is a tuple."""


@dataclass(frozen=True, slots=True)
class Column:
    """The input row's column at `index`, counted from 0."""

    index: int
    type: pa.DataType
    nullable: bool


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; `None` is the NULL of its type."""

    value: Value | None
    type: pa.DataType

    @property
    def nullable(self) -> bool:
        return self.value is None


@dataclass(frozen=True, slots=True)
class Call:
    """A function of the table above, applied to expressions."""

    function: str
    arguments: tuple["Expression", ...]
    type: pa.DataType
    nullable: bool


Expression = Column | Literal | Call
