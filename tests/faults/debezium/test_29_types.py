"""Row 29: in whatever way Debezium writes a type of PostgreSQL, views have PostgreSQL's values.

Every value is compared as PostgreSQL spells it, NULLs and ends of ranges included.
"""

from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.e2e.kafka.stack import CONNECTION, Stack
from tests.kafka.connect import Converter, debezium
from tests.kafka.java import await_true

# PostgreSQL's type, and the column's.
TYPES = {
    "small": ("smallint", "int16"),
    "middle": ("int", "int32"),
    "large": ("bigint", "int64"),
    "single": ("real", "float32"),
    "double": ("double precision", "float64"),
    "price": ("numeric(12, 2)", "decimal128(12, 2)"),
    "exact": ("numeric(38, 10)", "decimal128(38, 10)"),
    "free": ("numeric", "decimal128(20, 6)"),
    "flag": ("boolean", "bool"),
    "words": ("text", "utf8"),
    "padded": ("char(5)", "utf8"),
    "code": ("uuid", "uuid"),
    "day": ("date", "date32"),
    "clock": ("time", "time64[us]"),
    "at": ("timestamp", "timestamp[us]"),
    "instant": ("timestamptz", "timestamp[us, tz=UTC]"),
    "span": ("interval", "interval"),
    "doc": ("jsonb", "json"),
}
# As PostgreSQL reads them; each number is also exact as a double of at most 15 digits.
ROWS = {
    "ordinary": (
        "1, 2, 3, 1.5, 2.25, 12.34, 1234.5678, 0.5, true, 'word', 'abc', "
        "'0a1b2c3d-0000-4000-8000-00000000ffff', '2024-02-29', '12:34:56.789', "
        "'2024-02-29 23:59:59.123', '2024-02-29 23:59:59.123+02', '1 day 02:03:04', "
        """'{"a": [1, 2.5, null], "b": "x"}'"""
    ),
    "least": (
        "-32768, -2147483648, -9223372036854775808, -0.0, -1e300, -9999999999.99, "
        "-12345.6789012345, -0.000001, false, '', '', '00000000-0000-0000-0000-000000000000', "
        "'0001-01-01', '00:00:00', '0001-01-01 00:00:00', '1900-01-01 00:00:00+00', "
        "'-3 days -04:05:06', '[]'"
    ),
    "greatest": (
        "32767, 2147483647, 9223372036854775807, 3.25e38, 1e300, 9999999999.99, "
        "98765.4321098765, 99999999.999999, true, 'ünïcödé \U0001f600', 'zzzzz', "
        "'ffffffff-ffff-ffff-ffff-ffffffffffff', '9999-12-31', '23:59:59.999', "
        "'9999-12-31 23:59:59.999', '9999-12-31 23:59:59.999+00', '100 days', '{}'"
    ),
    "nothing": ", ".join(["NULL"] * len(TYPES)),
}
# Below a millisecond, for connectors that write it; and all digits that a column takes.
FINE = """
    UPDATE {table} SET clock = clock + interval '1 microsecond', at = at - interval '1 microsecond',
        instant = instant + interval '2 microseconds' WHERE name = 'ordinary'
"""
LONG = """
    UPDATE {table} SET exact = 9876543210987654321098765432.0123456789 WHERE name = 'greatest'
"""
# What these are shown as, since their texts are not the same everywhere.
SHOWN = {
    "padded": "rtrim(padded)",
    "free": "CAST(free AS numeric(20, 6))",
    "instant": "extract(epoch FROM instant)",
    "span": "extract(epoch FROM span)",
    "doc": "doc ->> 'a'",
}


@dataclass(frozen=True, slots=True)
class Form:
    """A way to write values: `has_fine` if below a millisecond, `has_long` if all digits."""

    name: str
    converter: Converter
    settings: dict[str, str]
    encodings: dict[str, str] = field(default_factory=dict)
    has_fine: bool = True
    has_long: bool = True


FORMS = [
    Form("precise", "json with schemas", {}),
    Form(
        "connect",
        "json with schemas",
        {"time_precision_mode": "connect", "decimal_handling_mode": "string"},
        has_fine=False,
    ),
    Form(
        "iso",
        "json with schemas",
        {"time_precision_mode": "isostring", "decimal_handling_mode": "double"},
        has_long=False,
    ),
    Form(
        "micros",
        "json with schemas",
        {"time_precision_mode": "adaptive_time_microseconds", "interval_handling_mode": "string"},
    ),
    Form("plain", "json", {"decimal_handling_mode": "string", "interval_handling_mode": "string"}),
    Form(
        "plain_double",
        "json",
        {
            "decimal_handling_mode": "double",
            "time_precision_mode": "connect",
            "interval_handling_mode": "string",
        },
        {"clock": "ms", "at": "ms"},
        has_fine=False,
        has_long=False,
    ),
    Form("avro", "avro", {}),
    Form("avro_text", "avro with headers", {"decimal_handling_mode": "string"}),
]


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.name)
def test_values_are_postgresqls(stack: Stack, form: Form) -> None:
    table = f"types_{form.name}.kept"
    begin(stack, form, table)
    check(stack, form, table)
    if form.has_fine:
        stack.database.execute(FINE.format(table=table).encode())
    if form.has_long:
        stack.database.execute(LONG.format(table=table).encode())
    stack.database.execute(f"UPDATE {table} SET small = 7 WHERE name = 'nothing'".encode())
    check(stack, form, table)
    stack.connect.delete(form.name)
    assert rejected(stack, form) == []


def test_a_decimal_that_is_not_a_number_is_put_aside(stack: Stack) -> None:
    form = Form("nan", "json", {"decimal_handling_mode": "string"})
    table = "types_nan.kept"
    begin(stack, form, table)
    check(stack, form, table)
    stack.database.execute(f"UPDATE {table} SET price = 'NaN' WHERE name = 'least'".encode())
    await_true("put aside", lambda: rejected(stack, form) == ["wrong-type"])
    stack.database.execute(f"UPDATE {table} SET price = 0 WHERE name = 'least'".encode())
    check(stack, form, table)
    stack.connect.delete(form.name)


def begin(stack: Stack, form: Form, table: str) -> None:
    columns = ", ".join(f"{name} {kind}" for name, (kind, _) in TYPES.items())
    rows = ", ".join(f"('{name}', {values})" for name, values in ROWS.items())
    stack.database.execute(f"CREATE SCHEMA types_{form.name}".encode())
    stack.database.execute(f"CREATE TABLE {table} (name text PRIMARY KEY, {columns})".encode())
    stack.database.execute(f"INSERT INTO {table} VALUES {rows}".encode())
    registry = stack.registry.native
    config = debezium(stack.publisher, form.name, table, form.converter, registry, **form.settings)
    stack.connect.create(form.name, config)
    stack.await_topic(f"{form.name}.{table}")
    kinds = {"name": "utf8"} | {name: kind for name, (_, kind) in TYPES.items()}
    body: dict[str, Any] = {
        "connector": "kafka",
        "connection": CONNECTION,
        "topic": f"{form.name}.{table}",
        "format": "avro" if form.converter.startswith("avro") else "json",
        "columns": [{"name": name, "type": kind} for name, kind in kinds.items()],
        "key": ["name"],
        "encodings": form.encodings,
    }
    stack.client.put(f"/v1/sources/types_{form.name}", body)
    stack.put_view(f"typed_{form.name}", query(f"types_{form.name}"), ["name"])


def check(stack: Stack, form: Form, table: str) -> None:
    stack.await_answer(f"typed_{form.name}", query(table))


def query(table: str) -> str:
    shown = (f"CAST({SHOWN.get(name, name)} AS text) AS {name}" for name in TYPES)
    return f"SELECT name, {', '.join(shown)} FROM {table}"


def rejected(stack: Stack, form: Form) -> list[str]:
    records = stack.client.get("/v1/quarantine", table=f"types_{form.name}")["records"]
    return [record["reason"] for record in records]
