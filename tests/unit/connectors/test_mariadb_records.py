"""Records of MariaDB 10.11 as Debezium's connector for MySQL 3.6 wrote them: what columns hold.

They were captured with the connector's defaults, once without schemas and once with them.
"""

import json
import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest

from api.models import SourceBody
from connectors.decode import decode
from connectors.records import Decoded, Records
from connectors.tables.spec import type_of
from ivm.values.types import Interval, interval_constant
from tests.unit.connectors.test_writer_types import connect
from tests.unit.connectors.writers import kafka

ID: pa.Field = pa.field("id", pa.int64(), nullable=False)
TIME, DATA = "io.debezium.time.", "io.debezium.data."
SCALE = {"scale": "2", "connect.decimal.precision": "10"}
HOURS = 3_020_399_000_000  # 838:59:59
# A column of the table: its schema, what was written of a value, the declared type, its value; and
# what a source without schemas needs to say, unless it takes it as it is.
COLUMNS: dict[str, tuple[dict[str, Any], Any, str, Any, dict[str, Any]]] = {
    "DECIMAL(10,2)": (
        {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal", "parameters": SCALE},
        "BNI=", "decimal128(10, 2)", Decimal("12.34"), {"v": "base64"},
    ),
    "DATETIME": (
        {"type": "int64", "name": TIME + "Timestamp"},
        1709210096000, "timestamp[us]", "2024-02-29 12:34:56", {"v": "ms"},
    ),
    "DATETIME(6)": (
        {"type": "int64", "name": TIME + "MicroTimestamp"},
        1709210096789123, "timestamp[us]", "2024-02-29 12:34:56.789123", {},
    ),
    "TIMESTAMP": (
        {"type": "string", "name": TIME + "ZonedTimestamp"},
        "2024-02-29T12:34:56Z", "timestamp[us, tz=UTC]", "2024-02-29 12:34:56+00:00", {},
    ),
    "DATE": ({"type": "int32", "name": TIME + "Date"}, 19782, "date32", "2024-02-29", {}),
    "TIME": (
        {"type": "int64", "name": TIME + "MicroTime"},
        45296000000, "time64[us]", "12:34:56", {},
    ),
    "TIME beyond a day": (
        {"type": "int64", "name": TIME + "MicroTime"},
        -HOURS, "interval", interval_constant(Interval(0, 0, -HOURS)), {},
    ),
    "YEAR": ({"type": "int32", "name": TIME + "Year"}, 2024, "int32", 2024, {}),
    "BIT(1)": ({"type": "boolean"}, True, "bool", True, {}),
    "TINYINT(1)": ({"type": "int16"}, 1, "int16", 1, {}),
    "TINYINT UNSIGNED": ({"type": "int16"}, 255, "uint8", 255, {}),
    "ENUM": ({"type": "string", "name": DATA + "Enum"}, "b", "utf8", "b", {}),
    "SET": ({"type": "string", "name": DATA + "EnumSet"}, "x,y", "utf8", "x,y", {}),
    "JSON": (
        {"type": "string"}, '{"b": 1.50, "a": [1]}', "json", '{"a": [1], "b": 1.5}', {},
    ),
    "BLOB": ({"type": "bytes"}, "YWI=", "binary", b"ab", {}),
    "BINARY(3)": ({"type": "bytes"}, "AP8A", "binary", b"\0\xff\0", {}),
    "FLOAT": ({"type": "float"}, 1.5, "float32", 1.5, {}),
    "a zero date": ({"type": "int32", "name": TIME + "Date"}, None, "date32", None, {}),
}  # fmt: skip
PAGE = (Path(__file__).parents[3] / "docs" / "databases.md").read_text()
SECTION = PAGE[PAGE.index("## MySQL and MariaDB\n") :]
BITS = {"type": "bytes", "name": DATA + "Bits", "parameters": {"length": "10"}}


def plain(value: Any, kind: str, **fields: Any) -> Decoded:
    spec = kafka(pa.schema([ID, pa.field("v", type_of(kind))]), **fields)
    content = orjson.dumps({"op": "c", "after": {"id": 1, "v": value}, "ts_ms": 1})
    return decode(Records([content], [0]), spec)


def value_of(decoded: Decoded) -> Any:
    assert decoded.rejected == ()
    return decoded.rows["v"][0].as_py()


@pytest.mark.parametrize(
    ("node", "written", "kind", "value", "encodings"), COLUMNS.values(), ids=COLUMNS
)
def test_a_column_is_read_with_schemas_and_without(
    node: dict[str, Any], written: Any, kind: str, value: Any, encodings: dict[str, Any]
) -> None:
    found = [
        value_of(connect(node, written, type_of(kind))),
        value_of(plain(written, kind, encodings=encodings)),
    ]
    shown = [str(one) if isinstance(value, str) else one for one in found]
    assert shown == [value, value]


def test_bits_are_numbers_with_a_schema_and_bytes_without() -> None:
    assert value_of(connect(BITS, "AQI=", pa.int32())) == 513
    assert value_of(connect(BITS, "AQI=", pa.string())) == "1000000001"
    assert value_of(plain("AQI=", "binary")) == b"\1\2"


def test_members_of_a_set_are_a_list_with_a_schema() -> None:
    node = {"type": "string", "name": DATA + "EnumSet", "parameters": {"allowed": "x,y"}}
    assert value_of(connect(node, "x,y", pa.list_(pa.string()))) == ["x", "y"]


def test_an_unsigned_number_beyond_64_bits_with_a_sign_is_put_aside_by_an_unsigned_column() -> None:
    """The default of `bigint.unsigned.handling.mode` writes 18446744073709551615 as -1."""
    node = {"type": "int64"}
    rejected = [*connect(node, -1, pa.uint64()).rejected, *plain(-1, "uint64").rejected]
    assert {record.reason for record in rejected} == {"out-of-range"}
    decimal = {"type": "bytes", "name": "org.apache.kafka.connect.data.Decimal",
               "parameters": {"scale": "0"}}  # fmt: skip
    assert value_of(connect(decimal, "AP//////////", pa.uint64())) == 2**64 - 1


def test_a_datetime_without_a_schema_needs_its_unit() -> None:
    (rejected,) = plain(1709210096000, "timestamp[us]").rejected
    assert (rejected.reason, "'encodings'" in rejected.message) == ("out-of-range", True)


def test_a_time_beyond_a_day_is_put_aside_by_a_time_of_day() -> None:
    (rejected,) = plain(HOURS, "time64[us]").rejected
    assert rejected.reason == "out-of-range"


def test_the_page_declares_its_table_as_records_without_schemas_need_it() -> None:
    (setup,) = re.findall(r"^```sql\n(.*?)^```$", SECTION, re.M | re.S)
    _, declared = re.findall(r"^```json\n(.*?)^```$", SECTION, re.M | re.S)
    spec = SourceBody(**json.loads(declared)).spec("items", "quarantine")
    columns = re.findall(r"^    (\w+) ([A-Z]+(?:\([\d,]+\))?)", setup, re.M)[1:]
    assert spec.schema.names == ["id", *(name for name, _ in columns)]
    row = {"id": 1} | {name: COLUMNS[kind][1] for name, kind in columns}
    content = orjson.dumps({"op": "c", "after": row, "ts_ms": 1})
    decoded = decode(Records([content], [0]), spec)
    assert decoded.rejected == ()
    (found,) = decoded.rows.to_pylist()
    for name, kind in columns:
        value = COLUMNS[kind][3]
        assert found[name] == value or str(found[name]) == value, name
