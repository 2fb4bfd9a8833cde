"""Debezium records for tests, as bytes."""

from typing import Any

import orjson
import pyarrow as pa

from connectors.declaration import OnError
from connectors.tables.spec import TableSpec

_ID: pa.Field = pa.field("id", pa.int64(), nullable=False)
SCHEMA = pa.schema([_ID, pa.field("name", pa.string())])


def table(name: str = "people", on_error: OnError = "quarantine") -> TableSpec:
    """A table with columns id and name and whole images, on a topic of the same name."""
    return TableSpec(name, name, SCHEMA, ("id",), replica_identity="full", on_error=on_error)


def record(op: str, before: Any = None, after: Any = None, ts_ms: int = 1_700_000_000_000) -> bytes:
    """An envelope."""
    return orjson.dumps({"before": before, "after": after, "source": {}, "op": op, "ts_ms": ts_ms})


def insert(number: int, name: str | None = "a") -> bytes:
    """The creation of row `number`."""
    return record("c", after={"id": number, "name": name})
