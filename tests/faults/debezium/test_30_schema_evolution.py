"""Row 30: a table's schema changes while it is captured.

What the declared columns can take is adopted without a pause. What they cannot take stalls the
pipeline, and its message has both schemas; nothing behind it is lost.
"""

from typing import Any

import pytest

from tests.e2e.kafka.stack import CONNECTION, Stack
from tests.kafka.connect import Converter, debezium

SETUP = """
    CREATE SCHEMA {name};
    CREATE TABLE {name}.goods (
        id int PRIMARY KEY, stock smallint NOT NULL, price numeric(8, 2), kind varchar(10),
        colour text);
    INSERT INTO {name}.goods
        SELECT n, n * 10, n / 4.0, 'kind ' || n % 3, 'red' FROM generate_series(1, 30) AS n;
"""
COLUMNS = {
    "id": "int64",
    "stock": "int32",
    "price": "decimal128(14, 2)",
    "kind": "utf8",
    "note": "utf8",
}
QUERY = "SELECT id, stock, price, kind, {note} AS note FROM {table}"
COMPATIBLE = {
    "a column that no source declares": """
        ALTER TABLE {name}.goods ADD COLUMN weight float DEFAULT 1;
        UPDATE {name}.goods SET weight = 2, stock = stock + 1 WHERE id % 2 = 0;
    """,
    "a declared column that was missing": """
        ALTER TABLE {name}.goods ADD COLUMN note text;
        UPDATE {name}.goods SET note = 'noted' WHERE id % 3 = 0;
    """,
    "wider types": """
        ALTER TABLE {name}.goods ALTER COLUMN id TYPE bigint, ALTER COLUMN stock TYPE int,
            ALTER COLUMN price TYPE numeric(14, 2), ALTER COLUMN kind TYPE text;
        UPDATE {name}.goods SET stock = 2000000000, price = 123456789012.34,
            kind = 'a kind with a long name' WHERE id % 5 = 0;
        INSERT INTO {name}.goods VALUES (9000000000, 1, 1, 'new', 'red', 1, 'far');
    """,
    "a dropped column that no source declares": """
        ALTER TABLE {name}.goods DROP COLUMN colour;
        UPDATE {name}.goods SET kind = 'plain' WHERE id = 1;
    """,
    "a dropped column that may be NULL": """
        UPDATE {name}.goods SET kind = NULL;
        ALTER TABLE {name}.goods DROP COLUMN kind;
        UPDATE {name}.goods SET stock = stock - 1;
        ALTER TABLE {name}.goods ADD COLUMN kind text;
        UPDATE {name}.goods SET kind = 'again' WHERE id = 2;
    """,
}
INCOMPATIBLE = """
    ALTER TABLE {name}.goods ALTER COLUMN stock TYPE boolean USING stock % 2 = 0;
    UPDATE {name}.goods SET stock = true WHERE id = 3;
"""
# Debezium fails if a table has another type by the time that it reads a change.
BACK = """
    ALTER TABLE {name}.goods ALTER COLUMN stock TYPE int USING stock::int;
    UPDATE {name}.goods SET stock = 17;
"""
CONVERTERS: dict[str, Converter] = {"typed": "json with schemas", "framed": "avro"}


@pytest.mark.parametrize("form", CONVERTERS)
def test_what_the_columns_can_take_is_adopted(stack: Stack, form: str) -> None:
    name = f"adopted_{form}"
    begin(stack, name, CONVERTERS[form])
    stack.await_answer(name, QUERY.format(note="NULL", table=f"{name}.goods"))
    for step, sql in COMPATIBLE.items():
        stack.execute_each(sql.format(name=name))
        note = "NULL" if step == "a column that no source declares" else "note"
        stack.await_answer(name, QUERY.format(note=note, table=f"{name}.goods"))
    stack.connect.delete(name)
    assert rejected(stack, name) == []


@pytest.mark.parametrize("form", CONVERTERS)
def test_what_they_cannot_take_stalls_with_both_schemas_and_loses_nothing(
    stack: Stack, form: str
) -> None:
    name = f"stalled_{form}"
    begin(stack, name, CONVERTERS[form], on_error="stall")
    answer = QUERY.format(note="NULL", table=f"{name}.goods")
    stack.await_answer(name, answer)
    stack.execute_each(INCOMPATIBLE.format(name=name))
    stack.await_true("a stall", lambda: "incompatible-schema" in stack.readiness())
    told = stack.readiness()
    assert f"topic '{name}.{name}.goods', partition 0, offset 30" in told
    assert "column 'stock'" in told
    assert "the table has {id: int64, stock: int32" in told
    assert "the writer {id: int, stock: bool" in told
    stack.execute_each(BACK.format(name=name))
    declare(stack, name, CONVERTERS[form], on_error="quarantine")
    stack.await_answer(name, answer)
    stack.connect.delete(name)
    assert rejected(stack, name) == ["incompatible-schema"]


def begin(stack: Stack, name: str, converter: Converter, on_error: str = "quarantine") -> None:
    stack.database.execute(SETUP.format(name=name).encode())
    registry = stack.registry.native
    config = debezium(stack.publisher, name, f"{name}.goods", converter, registry)
    stack.connect.create(name, config)
    stack.await_topic(f"{name}.{name}.goods")
    declare(stack, name, converter, on_error)
    stack.put_view(name, QUERY.format(note="note", table=f"{name}_goods"), ["id"])


def declare(stack: Stack, name: str, converter: Converter, on_error: str) -> None:
    body: dict[str, Any] = {
        "connector": "kafka",
        "connection": CONNECTION,
        "topic": f"{name}.{name}.goods",
        "format": "avro" if converter == "avro" else "json",
        "columns": [
            {"name": column, "type": kind, "nullable": column != "stock"}
            for column, kind in COLUMNS.items()
        ],
        "key": ["id"],
        "on_error": on_error,
    }
    stack.client.put(f"/v1/sources/{name}_goods", body)


def rejected(stack: Stack, name: str) -> list[str]:
    records = stack.client.get("/v1/quarantine", table=f"{name}_goods")["records"]
    return [record["reason"] for record in records]
