"""A row as a line of text, the same for PostgreSQL's values and for ours."""

from collections.abc import Iterable, Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import pyarrow as pa

from ivm.values.interval_text import spelled
from ivm.values.types import Interval

Row = Sequence[Any]


def lines(types: str, rows: Iterable[Row]) -> tuple[str, ...]:
    """The rows as sorted lines."""
    return tuple(sorted(line(types, row) for row in rows))


def line(types: str, row: Row) -> str:
    """One row; `types` has a letter for each value."""
    if len(types) != len(row):
        raise ValueError(f"a row of {len(row)} values where {types} are expected: {row}")
    return " ".join(text(kind, value) for kind, value in zip(types, row, strict=True))


def text(kind: str, value: Any) -> str:
    """One value, as a letter of the query's types asks for it."""
    if value is None:
        return "NULL"
    match kind:
        case "I":
            if value != int(value):
                raise ValueError(f"{value} is no integer")
            return str(int(value))
        case "N":
            return format(Decimal(value).normalize(), "f")
        case "R":
            return format(float(value), ".6g")
        case "B":
            return {True: "true", False: "false"}[value]
        case _:
            return plain(value).replace("\n", "\\n") or "(empty)"


def plain(value: Any) -> str:
    """A value as PostgreSQL prints it."""
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return repr(value).removesuffix(".0")
        case datetime():
            return value.isoformat(" ").replace("+00:00", "+00")
        case bytes():
            return f"\\x{value.hex()}"
        case pa.MonthDayNano():
            months, days, nanos = value
            return spelled(Interval(months, days, nanos // 1000))
        case list() | tuple():
            return "{" + ",".join("NULL" if v is None else plain(v) for v in value) + "}"
        case _:
            return str(value)
