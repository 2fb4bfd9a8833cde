"""Protobuf messages, whose schema is in a real registry, are rows of a view; bad ones put aside."""

from typing import Any

import httpx

from tests.e2e.kafka.shop import reasons
from tests.e2e.kafka.stack import CONNECTION, Stack
from tests.kafka.client import Record
from tests.kafka.java import await_true
from tests.unit.connectors.protobufs import framed, message

PRICES = 'syntax = "proto3"; package shop; message Price { int64 cents = 1; string unit = 2; }'
ITEMS = """
syntax = "proto3";
package shop;

import "google/protobuf/timestamp.proto";
import "prices.proto";

message Key { string sku = 1; }
message Item {
  enum Status { UNKNOWN = 0; SOLD = 1; }
  message Part { int32 number = 1; }
  Status status = 1;
  optional int32 stock = 2;
  oneof origin { string maker = 3; int64 batch = 4; }
  repeated Part parts = 5;
  Price price = 6;
  google.protobuf.Timestamp changed = 7;
}
"""
ITEM = {"status": "SOLD", "maker": "m", "parts": [{"number": 1}], "price": {"cents": 250},
        "changed": "2024-01-31T10:00:00.5Z"}  # fmt: skip
QUERY = """
    SELECT sku, status, stock, maker, batch, parts[1] ->> 'number' AS part,
           price ->> 'cents' AS cents, changed
    FROM wares
"""


def register(stack: Stack, subject: str, schema: str, *references: dict[str, Any]) -> int:
    url = f"{stack.registry.url}/subjects/{subject}/versions"
    body = {"schemaType": "PROTOBUF", "schema": schema, "references": references}
    return int(httpx.post(url, json=body).raise_for_status().json()["id"])


def content(kind: str, value: Any) -> bytes:
    return message(ITEMS, f"shop.{kind}", value, prices=PRICES)


def test_messages_of_a_registered_schema_are_rows(stack: Stack) -> None:
    register(stack, "prices", PRICES)
    reference = {"name": "prices.proto", "subject": "prices", "version": 1}
    number = register(stack, "wares-value", ITEMS, reference)

    def record(sku: str, value: Any) -> Record:
        written = None if value is None else framed(number, content("Item", value), 1)
        return Record(written, framed(number, content("Key", {"sku": sku})))

    stack.kafka.create_topic("wares")
    stack.kafka.produce("wares", [record("a", ITEM), record("b", ITEM), record("b", None)])
    key = record("c", None).key
    stack.kafka.produce("wares", [Record(framed(number, b"\xff\xff", 1), key)])
    stack.kafka.produce("wares", [record("c", {"batch": "7", "stock": 0})])
    columns = {"sku": "utf8", "status": "utf8", "stock": "int32", "maker": "utf8",
               "batch": "int64", "parts": "list<json>", "price": "json",
               "changed": "timestamp[us, tz=UTC]"}  # fmt: skip
    body: dict[str, Any] = {
        "connector": "kafka",
        "connection": CONNECTION,
        "format": "protobuf",
        "envelope": "upsert",
        "columns": [{"name": name, "type": kind} for name, kind in columns.items()],
        "key": ["sku"],
    }
    stack.client.put("/v1/sources/wares", body)
    stack.put_view("parts", QUERY, ["sku"])

    def rows() -> list[tuple[Any, ...]]:
        found = stack.client.get("/v1/views/parts/rows", scan="true")["rows"]
        return sorted(tuple(row.values()) for row in found)

    instant = "2024-01-31T10:00:00.500000Z"
    expected = [
        ("a", "SOLD", None, "m", None, "1", "250", instant),
        ("c", "UNKNOWN", 0, None, 7, None, None, None),
    ]
    await_true("both rows", lambda: len(rows()) == len(expected))
    assert rows() == expected
    assert reasons(stack, "wares") == ["not-protobuf"]
