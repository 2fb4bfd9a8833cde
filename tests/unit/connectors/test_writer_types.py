"""Values with a schema of their writer: each logical type exactly, in Connect's JSON and Avro."""

from base64 import b64encode
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.records import Decoded, Records
from ivm.values.types import INTERVAL, JSON, UUID, Interval, interval_constant
from tests.unit.connectors.writers import Writers, envelope_schema, kafka

ID: pa.Field = pa.field("id", pa.int64(), nullable=False)
TIME = "io.debezium.time."
DATA = "io.debezium.data."
CONNECT = "org.apache.kafka.connect.data."
UTC = pa.timestamp("us", "UTC")
NAIVE = pa.timestamp("us")
CLOCK = pa.time64("us")


def connect(node: dict[str, Any], value: Any, dtype: pa.DataType, **fields: Any) -> Decoded:
    """The row of an envelope that Connect's JSON converter wrote."""
    row = [{"type": "int64", "field": "id"}, {**node, "field": "v", "optional": True}]
    images = [
        {"type": "struct", "fields": row, "field": name, "optional": True}
        for name in ("before", "after")
    ]
    schema = {"type": "struct", "fields": [*images, {"type": "string", "field": "op"}]}
    payload = {"before": None, "after": {"id": 1, "v": value}, "op": "c"}
    record = orjson.dumps({"schema": schema, "payload": payload})
    return decode(
        Records([record, record], [0, 1]), kafka(pa.schema([ID, pa.field("v", dtype)]), **fields)
    )


def avro(node: Any, value: Any, dtype: pa.DataType) -> Decoded:
    """The row of an envelope that Connect's Avro converter wrote."""
    writers = Writers()
    schema = envelope_schema(id="long", v=["null", node])
    envelope = {"before": None, "after": {"id": 1, "v": value}, "op": "c", "ts_ms": 1}
    record = writers.record(schema, envelope)
    spec = kafka(pa.schema([ID, pa.field("v", dtype)]), format="avro")
    return decode(Records([record, record], [0, 1]), spec, writers)


def value_of(decoded: Decoded) -> Any:
    assert decoded.rejected == ()
    first, second = decoded.rows["v"].to_pylist()
    assert first == second
    return first


COUNTS: list[tuple[str, str, int, Any, str]] = [
    ("int", TIME + "Date", 18262, pa.date32(), "2020-01-01"),
    ("int", CONNECT + "Date", -1, pa.date32(), "1969-12-31"),
    ("int", TIME + "Time", 1500, CLOCK, "00:00:01.500000"),
    ("int", CONNECT + "Time", 1, CLOCK, "00:00:00.001000"),
    ("long", TIME + "MicroTime", 1, CLOCK, "00:00:00.000001"),
    ("long", TIME + "NanoTime", 86_399_999_999_000, CLOCK, "23:59:59.999999"),
    ("long", TIME + "Timestamp", 1, NAIVE, "1970-01-01T00:00:00.001000"),
    ("long", CONNECT + "Timestamp", -1, NAIVE, "1969-12-31T23:59:59.999000"),
    ("long", CONNECT + "Timestamp", 0, UTC, "1970-01-01T00:00:00+00:00"),
    ("long", TIME + "MicroTimestamp", 1, NAIVE, "1970-01-01T00:00:00.000001"),
    ("long", TIME + "NanoTimestamp", -1000, NAIVE, "1969-12-31T23:59:59.999999"),
]


@pytest.mark.parametrize(("kind", "name", "value", "dtype", "iso"), COUNTS)
def test_a_count_is_of_the_unit_that_the_schema_says(
    kind: str, name: str, value: int, dtype: pa.DataType, iso: str
) -> None:
    node = {"type": {"int": "int32", "long": "int64"}[kind], "name": name, "version": 1}
    assert value_of(connect(node, value, dtype)).isoformat() == iso
    assert value_of(avro({"type": kind, "connect.name": name}, value, dtype)).isoformat() == iso


@pytest.mark.parametrize(
    ("node", "value", "dtype", "iso"),
    [
        ({"type": "int", "logicalType": "date"}, 1, pa.date32(), "1970-01-02"),
        ({"type": "int", "logicalType": "time-millis"}, 1, CLOCK, "00:00:00.001000"),
        ({"type": "long", "logicalType": "time-micros"}, 1, CLOCK, "00:00:00.000001"),
        ({"type": "long", "logicalType": "timestamp-millis"}, 1, UTC,
         "1970-01-01T00:00:00.001000+00:00"),
        ({"type": "long", "logicalType": "timestamp-micros"}, 1, NAIVE,
         "1970-01-01T00:00:00.000001"),
        ({"type": "long", "logicalType": "timestamp-nanos"}, 1000, NAIVE,
         "1970-01-01T00:00:00.000001"),
        ({"type": "long", "logicalType": "local-timestamp-millis"}, 1, NAIVE,
         "1970-01-01T00:00:00.001000"),
    ],
)  # fmt: skip
def test_avro_has_logical_types_of_its_own(
    node: Any, value: int, dtype: pa.DataType, iso: str
) -> None:
    assert value_of(avro(node, value, dtype)).isoformat() == iso


@pytest.mark.parametrize(
    ("number", "dtype"), [(2**64 - 1, pa.uint64()), (0, pa.uint64()), (-(2**63), pa.int64())]
)
def test_a_decimal_without_a_scale_is_an_integer(number: int, dtype: pa.DataType) -> None:
    """As MySQL's BIGINT UNSIGNED with bigint.unsigned.handling.mode=precise, and our own sinks."""
    unscaled = number.to_bytes(9, "big", signed=True)
    node = {"type": "bytes", "name": CONNECT + "Decimal", "parameters": {"scale": "0"}}
    assert value_of(connect(node, b64encode(unscaled).decode(), dtype)) == number
    kind = {"type": "bytes", "logicalType": "decimal", "precision": 20, "scale": 0}
    assert value_of(avro(kind, unscaled, dtype)) == number
    beyond = connect(node, b64encode((2**64).to_bytes(9, "big")).decode(), dtype)
    assert {r.reason for r in beyond.rejected} == {"out-of-range"}
    scaled = connect({**node, "parameters": {"scale": "2"}}, "AA==", dtype)
    assert {r.reason for r in scaled.rejected} == {"incompatible-schema"}


@pytest.mark.parametrize("name", ["NanoTime", "NanoTimestamp", "NanoDuration"])
def test_nanoseconds_are_refused_unless_they_are_whole_microseconds(name: str) -> None:
    dtypes: dict[str, pa.DataType] = {"NanoTime": CLOCK, "NanoTimestamp": NAIVE}
    dtype = dtypes.get(name, INTERVAL)
    decoded = connect({"type": "int64", "name": TIME + name}, 1_001, dtype)
    assert {r.reason for r in decoded.rejected} == {"out-of-range"}
    assert "nanoseconds" in decoded.rejected[0].message


def test_a_count_beyond_its_type_is_refused() -> None:
    for value in (2**62, 2**63 - 1, -(2**63)):
        decoded = connect({"type": "int64", "name": TIME + "Timestamp"}, value, NAIVE)
        assert {r.reason for r in decoded.rejected} == {"out-of-range"}


@pytest.mark.parametrize(
    ("name", "text", "dtype", "iso"),
    [
        ("ZonedTimestamp", "2020-01-01T02:00:00.5+02:00", UTC, "2020-01-01T00:00:00.500000+00:00"),
        ("ZonedTimestamp", "2020-01-01T00:00:00Z", UTC, "2020-01-01T00:00:00+00:00"),
        ("ZonedTime", "10:15:30.5Z", CLOCK, "10:15:30.500000"),
        ("IsoDate", "2020-01-01Z", pa.date32(), "2020-01-01"),
        ("IsoTime", "10:15:30Z", CLOCK, "10:15:30"),
        ("IsoTimestamp", "2020-01-01T10:15:30Z", NAIVE, "2020-01-01T10:15:30"),
    ],
)
def test_times_come_as_iso_texts(name: str, text: str, dtype: pa.DataType, iso: str) -> None:
    assert (
        value_of(connect({"type": "string", "name": TIME + name}, text, dtype)).isoformat() == iso
    )
    node = {"type": "string", "connect.name": TIME + name}
    assert value_of(avro(node, text, dtype)).isoformat() == iso


@pytest.mark.parametrize(
    ("name", "text", "dtype"),
    [
        ("ZonedTimestamp", "2020-01-01T00:00:00", UTC),
        ("ZonedTimestamp", "2020-01-01T00:00:00Z", NAIVE),
        ("ZonedTime", "10:15:30+02:00", CLOCK),
    ],
)
def test_a_text_has_an_offset_exactly_where_the_column_can_hold_it(
    name: str, text: str, dtype: pa.DataType
) -> None:
    decoded = connect({"type": "string", "name": TIME + name}, text, dtype)
    assert {r.reason for r in decoded.rejected} == {"wrong-type"}


def unscaled(number: int) -> bytes:
    return number.to_bytes(number.bit_length() // 8 + 1, "big", signed=True)


DECIMALS = [
    (12345, 2, "123.45"),
    (-1, 2, "-0.01"),
    (0, 0, "0"),
    (7, -3, "7000"),
    (10**37, 0, 10**37),
]


@pytest.mark.parametrize(("number", "scale", "text"), DECIMALS)
def test_decimals_come_as_unscaled_bytes(number: int, scale: int, text: Any) -> None:
    dtype = pa.decimal128(38, max(scale, 0))
    content = unscaled(number)
    node = {"type": "bytes", "name": CONNECT + "Decimal", "parameters": {"scale": str(scale)}}
    assert value_of(connect(node, b64encode(content).decode(), dtype)) == Decimal(text)
    written: dict[str, Any] = {"type": "bytes", "connect.name": CONNECT + "Decimal"}
    written |= {"connect.parameters": {"scale": str(scale)}}
    assert value_of(avro(written, content, dtype)) == Decimal(text)


def test_avro_decimals_may_be_fixed() -> None:
    node = {"type": "fixed", "name": "D", "size": 4, "logicalType": "decimal", "scale": 2,
            "precision": 9}  # fmt: skip
    assert value_of(avro(node, b"\xff\xff\xff\xfe", pa.decimal128(9, 2))) == Decimal("-0.02")


def test_decimals_may_each_have_a_scale() -> None:
    node = {
        "type": "struct",
        "name": DATA + "VariableScaleDecimal",
        "fields": [{"type": "int32", "field": "scale"}, {"type": "bytes", "field": "value"}],
    }
    value = {"scale": 3, "value": b64encode(unscaled(1500)).decode()}
    assert value_of(connect(node, value, pa.decimal128(9, 2))) == Decimal("1.50")
    fields = [{"name": "scale", "type": "int"}, {"name": "value", "type": "bytes"}]
    record = {"type": "record", "name": DATA + "VariableScaleDecimal", "fields": fields}
    found = avro(record, {"scale": 3, "value": unscaled(1500)}, pa.decimal128(9, 2))
    assert value_of(found) == Decimal("1.50")


def test_a_decimal_that_would_lose_digits_is_refused() -> None:
    node = {"type": "bytes", "name": CONNECT + "Decimal", "parameters": {"scale": "3"}}
    for content in (unscaled(1), unscaled(10**12), b"\x7f" * 40):
        decoded = connect(node, b64encode(content).decode(), pa.decimal128(9, 2))
        assert {r.reason for r in decoded.rejected} == {"out-of-range"}


@pytest.mark.parametrize("text", ["12.30", "-7", "1E+2"])
def test_decimals_come_as_texts(text: str) -> None:
    assert value_of(connect({"type": "string"}, text, pa.decimal128(9, 2))) == Decimal(text)
    assert value_of(avro("string", text, pa.decimal128(9, 2))) == Decimal(text)


def test_a_decimal_never_passes_through_a_float() -> None:
    found = value_of(connect({"type": "double"}, 0.1, pa.decimal128(38, 30)))
    assert found == Decimal("0.1")
    decoded = avro("double", 0.1, pa.decimal128(9, 2))
    assert {r.reason for r in decoded.rejected} == {"incompatible-schema"}


BITS: dict[str, Any] = {"type": "bytes", "name": DATA + "Bits", "parameters": {"length": "10"}}
OTHERS: list[tuple[dict[str, Any], Any, pa.DataType, Any]] = [
    ({"type": "string", "name": DATA + "Json"}, '{"b": 1, "a": 2}', JSON, '{"a": 2, "b": 1}'),
    ({"type": "string", "name": DATA + "Json"}, '{"b": 1}', pa.string(), '{"b": 1}'),
    ({"type": "string", "name": DATA + "Enum"}, "red", pa.string(), "red"),
    ({"type": "string", "name": DATA + "EnumSet"}, "a,b", pa.string(), "a,b"),
    ({"type": "string", "name": DATA + "EnumSet"}, "a,b", pa.list_(pa.string()), ["a", "b"]),
    ({"type": "string", "name": DATA + "Xml"}, "<a/>", pa.string(), "<a/>"),
    (BITS, "AQI=", pa.int64(), 513),
    (BITS, "AQI=", pa.string(), "1000000001"),
    (BITS, "AQI=", pa.binary(), b"\1\2"),
    ({"type": "array", "items": {"type": "int32"}}, [1, None], pa.list_(pa.int64()), [1, None]),
    ({"type": "array", "items": {"type": "int64", "name": CONNECT + "Timestamp"}}, [0],
     pa.list_(pa.int64()), [0]),
    ({"type": "map", "values": {"type": "string"}}, {"b": "1", "a": None}, JSON,
     '{"a": null, "b": "1"}'),
    ({"type": "int64", "name": TIME + "MicroDuration"}, 5, INTERVAL,
     interval_constant(Interval(0, 0, 5))),
    ({"type": "string", "name": TIME + "Interval"}, "P1Y2M3DT0H0M1S", INTERVAL,
     interval_constant(Interval(14, 3, 1_000_000))),
    ({"type": "int64", "name": TIME + "Timestamp"}, 5, pa.int64(), 5),
    ({"type": "int32", "name": TIME + "Year"}, 1999, pa.int32(), 1999),
    ({"type": "double"}, 0.5, pa.float64(), 0.5),
    ({"type": "boolean"}, True, pa.bool_(), True),
    ({"type": "bytes"}, "AP8=", pa.binary(), b"\0\xff"),
]  # fmt: skip


@pytest.mark.parametrize(("node", "value", "dtype", "found"), OTHERS)
def test_other_types_mean_what_debezium_says(
    node: dict[str, Any], value: Any, dtype: pa.DataType, found: Any
) -> None:
    assert value_of(connect(node, value, dtype)) == found


def test_lists_of_dates_are_converted_by_their_elements_type() -> None:
    node = {"type": "array", "items": {"type": "int32", "name": TIME + "Date"}}
    (day,) = value_of(connect(node, [0], pa.list_(pa.date32())))
    assert day.isoformat() == "1970-01-01"


def test_avro_has_uuids_enums_and_durations() -> None:
    text = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    assert str(value_of(avro({"type": "string", "logicalType": "uuid"}, text, UUID))) == text
    enum = {"type": "enum", "name": "Color", "symbols": ["red", "blue"]}
    assert value_of(avro(enum, "blue", pa.string())) == "blue"
    duration = {"type": "fixed", "name": "U", "size": 12, "logicalType": "duration"}
    content = b"".join(n.to_bytes(4, "little") for n in (1, 2, 3000))
    expected = interval_constant(Interval(1, 2, 3_000_000))
    assert value_of(avro(duration, content, INTERVAL)) == expected


def test_a_name_of_somebody_else_has_no_meaning_here() -> None:
    node = {"type": "int64", "name": "com.acme.Timestamp"}
    assert value_of(connect(node, 5, pa.int64())) == 5
    decoded = connect(node, 5, NAIVE)
    assert {r.reason for r in decoded.rejected} == {"incompatible-schema"}


def test_where_the_schema_gives_no_meaning_the_declaration_does() -> None:
    found = value_of(connect({"type": "int64"}, 5, NAIVE, encodings={"v": "ms"}))
    assert found.isoformat() == "1970-01-01T00:00:00.005000"


@pytest.mark.parametrize(
    ("dtype", "encoding", "text", "found"),
    [
        (NAIVE, "ms", "1", "1970-01-01 00:00:00.001000"),
        (NAIVE, "us", "1", "1970-01-01 00:00:00.000001"),
        (UTC, "ns", "1000", "1970-01-01 00:00:00.000001+00:00"),
        (CLOCK, "ms", "1", "00:00:00.001000"),
        (pa.decimal128(9, 2), "base64", '"AfQ="', "5.00"),
    ],
)
def test_without_a_schema_the_declaration_says_how_a_column_is_written(
    dtype: pa.DataType, encoding: str, text: str, found: str
) -> None:
    spec = kafka(pa.schema([ID, pa.field("v", dtype)]), encodings={"v": encoding})
    value = b'{"op":"c","after":{"id":1,"v":' + text.encode() + b"}}"
    assert str(decode(Records([value], [0]), spec).rows["v"][0].as_py()) == found
