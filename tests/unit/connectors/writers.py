"""Avro records for tests, and the schemas of their writers without a registry."""

from io import BytesIO
from typing import Any

import orjson
import pyarrow as pa
from fastavro import parse_schema, schemaless_writer

from connectors.formats.schemas import SchemaId, SchemaText
from connectors.tables.spec import TableSpec


class Writers:
    """Holds schemas by id from 1 on; it may be out of reach."""

    def __init__(self) -> None:
        self.schemas: dict[SchemaId, tuple[SchemaText, ...]] = {}
        self.asked: list[SchemaId] = []

    def add(self, schema: Any, *references: Any, name: SchemaId | None = None) -> int:
        """Register a schema, after those that it refers to, and give its id."""
        number = len(self.schemas) + 1
        texts = tuple(SchemaText(orjson.dumps(one).decode()) for one in (*references, schema))
        self.schemas[name or SchemaId("id", str(number))] = texts
        return number

    def add_texts(self, text: str, **imported: str) -> int:
        """Register a schema of Protobuf, after the files that it imports as `name.proto`."""
        number = len(self.schemas) + 1
        files = [SchemaText(one, f"{name}.proto") for name, one in imported.items()]
        self.schemas[SchemaId("id", str(number))] = (*files, SchemaText(text))
        return number

    def texts(self, name: SchemaId) -> tuple[SchemaText, ...] | None:
        """As `connectors.formats.avro.Schemas`."""
        self.asked.append(name)
        return self.schemas.get(name)

    def record(self, schema: Any, value: Any, width: int = 4) -> bytes:
        """`value`, written by `schema`, which is registered, with an id of so many bytes."""
        number = self.add(schema)
        return b"\0" + number.to_bytes(width, "big") + written(schema, value)


def written(schema: Any, value: Any) -> bytes:
    """`value` in Avro's binary form."""
    file = BytesIO()
    schemaless_writer(file, parse_schema(schema), value)
    return file.getvalue()


def row_schema(**fields: Any) -> dict[str, Any]:
    """A record with these fields."""
    listed = [{"name": name, "type": kind} for name, kind in fields.items()]
    return {"type": "record", "name": "Value", "fields": listed}


def envelope_schema(**fields: Any) -> dict[str, Any]:
    """Debezium's envelope of rows with these fields."""
    return {
        "type": "record",
        "name": "Envelope",
        "namespace": "shop.public.items",
        "fields": [
            {"name": "before", "type": ["null", row_schema(**fields)], "default": None},
            {"name": "after", "type": ["null", "Value"], "default": None},
            {"name": "op", "type": "string"},
            {"name": "ts_ms", "type": ["null", "long"], "default": None},
        ],
    }


def kafka(schema: pa.Schema, key: tuple[str, ...] = ("id",), **fields: Any) -> TableSpec:
    """A table on a Kafka topic."""
    declared = {"connector": "kafka", "connection": "main", **fields}
    return TableSpec("t", "t", schema, key, **declared)
