"""Records become updates, whole or not at all, and each rejection names its reason."""

import base64
import math
import uuid
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.formats.format import REASONS
from connectors.records import Decoded, Records
from connectors.tables.spec import TableSpec
from ivm.values.types import INTERVAL, JSON, UUID, Interval, interval_constant
from tests.unit.connectors.records import insert, record, table

IDENTIFIER = "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"


def run(*values: bytes, spec: TableSpec | None = None) -> Decoded:
    return decode(Records(values, range(100, 100 + len(values))), spec or table())


def updates(decoded: Decoded) -> list[tuple[Any, ...]]:
    rows = [tuple(row.values()) for row in decoded.rows.to_pylist()]
    return list(zip(decoded.offsets.tolist(), decoded.diffs.tolist(), rows, strict=True))


def typed(dtype: pa.DataType, nullable: bool = True) -> TableSpec:
    schema = pa.schema([pa.field("id", pa.int64()), pa.field("v", dtype, nullable=nullable)])
    return TableSpec("t", "t", schema, ("id",))


def with_value(text: str) -> bytes:
    return b'{"op":"c","after":{"id":1,"v":' + text.encode() + b"}}"


def taken(dtype: pa.DataType, text: str) -> Any:
    decoded = run(with_value(text), spec=typed(dtype))
    assert decoded.rejected == ()
    return decoded.rows["v"][0].as_py()


def refused(dtype: pa.DataType, text: str) -> str:
    good = with_value("null")
    decoded = run(good, with_value(text), good, spec=typed(dtype))
    assert decoded.offsets.tolist() == [100, 102]
    (rejected,) = decoded.rejected
    assert rejected.offset == 101
    assert rejected.value == with_value(text)
    assert rejected.reason in REASONS
    assert "'v'" in rejected.message
    return rejected.reason


def test_each_op_has_its_effect() -> None:
    a, b = {"id": 1, "name": "a"}, {"id": 1, "name": "b"}
    decoded = run(record("r", after=a), record("u", a, b), record("d", b))
    assert updates(decoded) == [
        (100, 1, (1, "a")),
        (101, -1, (1, "a")),
        (101, 1, (1, "b")),
        (102, -1, (1, "b")),
    ]
    assert decoded.rejected == ()


def test_rows_have_the_declared_schema() -> None:
    assert run(insert(1)).rows.schema == table().schema


def test_a_batch_without_records_has_the_declared_schema() -> None:
    assert run().rows.schema == table().schema


def test_timestamps_of_envelopes_are_kept() -> None:
    assert run(record("c", after={"id": 1, "name": "a"}, ts_ms=5)).ts_ms.tolist() == [5]


@pytest.mark.parametrize("ts_ms", ["1.5", '"x"', "null", "99999999999999999999"])
def test_an_unusable_timestamp_counts_as_none(ts_ms: str) -> None:
    value = b'{"op":"c","after":{"id":1,"name":"a"},"ts_ms":' + ts_ms.encode() + b"}"
    assert run(value, insert(2)).ts_ms.tolist() == [0, 1_700_000_000_000]


def test_a_wrapped_envelope_is_opened() -> None:
    wrapped = b'{"schema":{"type":"struct"},"payload":' + insert(7) + b"}"
    assert updates(run(wrapped)) == [(100, 1, (7, "a"))]


@pytest.mark.parametrize("value", [b"null", b'{"schema":null,"payload":null}'])
def test_tombstones_are_counted_and_ignored(value: bytes) -> None:
    decoded = run(insert(1), value, insert(2))
    assert decoded.tombstones == 1
    assert decoded.offsets.tolist() == [100, 102]
    assert decoded.rejected == ()


def test_a_truncation_is_a_change_without_a_row() -> None:
    decoded = run(insert(1), record("t"), insert(2))
    assert updates(decoded) == [(100, 1, (1, "a")), (101, 0, (None, None)), (102, 1, (2, "a"))]


def test_a_message_of_the_log_is_counted_and_ignored() -> None:
    decoded = run(record("m"), insert(2))
    assert (decoded.ignored, updates(decoded)) == (1, [(101, 1, (2, "a"))])


def test_unknown_fields_are_ignored() -> None:
    assert updates(run(record("c", after={"id": 1, "name": "a", "more": [1]}))) == [
        (100, 1, (1, "a"))
    ]


REJECTED: Sequence[tuple[bytes, str, str]] = [
    (b"{", "not-json", "not JSON"),
    (b"", "not-json", "not JSON"),
    (b'{"op": "c"} {}', "not-json", "not JSON"),
    (b'{"a":"\xff"}', "not-json", "UTF-8"),
    (b"[" * 5000 + b"]" * 5000, "not-json", "depth"),
    (b"[]", "not-an-envelope", "not an object"),
    (b"7", "not-an-envelope", "not an object"),
    (b'{"schema":null,"payload":3}', "not-an-envelope", "not an object"),
    (b'{"op":"c","after":[1]}', "not-an-envelope", "'after'"),
    (b'{"after":{"id":1,"name":"a"}}', "missing-field", "'op'"),
    (record("x", after={}), "unknown-op", "'x'"),
    (b'{"op":3,"after":{}}', "unknown-op", "3"),
    (b'{"op":["c"],"after":{}}', "unknown-op", "c"),
    (record("c"), "missing-image", "'after'"),
    (record("d"), "missing-image", "REPLICA IDENTITY FULL"),
    (record("u", after={"id": 1, "name": "a"}), "missing-image", "'before'"),
    (record("c", after={"name": "a"}), "missing-field", "'id'"),
    (record("u", {"name": "a"}, {"id": 1, "name": "a"}), "missing-field", "'before'"),
    (record("c", after={"id": None, "name": "a"}), "null-value", "'id'"),
    (record("c", after={"id": "1", "name": "a"}), "wrong-type", "'id'"),
    (record("c", after={"id": 1, "name": 2}), "wrong-type", "'name'"),
    (record("c", after={"id": 2**63, "name": "a"}), "out-of-range", "'id'"),
    (
        record("c", after={"id": 1, "name": "__debezium_unavailable_value"}),
        "unavailable-value",
        "TOAST",
    ),
]


@pytest.mark.parametrize(("value", "reason", "said"), REJECTED)
def test_a_bad_record_is_rejected_and_nothing_else_is(value: bytes, reason: str, said: str) -> None:
    decoded = run(insert(1), value, insert(2))
    assert updates(decoded) == [(100, 1, (1, "a")), (102, 1, (2, "a"))]
    (rejected,) = decoded.rejected
    assert (rejected.offset, rejected.reason, rejected.value) == (101, reason, value)
    assert said in rejected.message


def test_an_update_with_one_bad_image_is_rejected_whole() -> None:
    decoded = run(record("u", {"id": 1, "name": "a"}, {"id": 1, "name": 2}))
    assert updates(decoded) == []
    assert [r.reason for r in decoded.rejected] == ["wrong-type"]


def test_rejected_records_come_in_the_order_of_offsets() -> None:
    decoded = run(record("c", after={"id": "x", "name": "a"}), b"{", insert(3))
    assert [r.offset for r in decoded.rejected] == [100, 101]


def test_offsets_may_have_gaps() -> None:
    decoded = decode(Records([insert(1), b"null", insert(2)], [3, 8, 20]), table())
    assert decoded.offsets.tolist() == [3, 20]


@pytest.mark.parametrize(
    ("dtype", "text", "value"),
    [
        (pa.bool_(), "true", True),
        (pa.int8(), "-128", -128),
        (pa.int64(), "9223372036854775807", 2**63 - 1),
        (pa.uint64(), "18446744073709551615", 2**64 - 1),
        (pa.float64(), "1.5", 1.5),
        (pa.float64(), "3", 3.0),
        (pa.float32(), "0.5", 0.5),
        (pa.float32(), "16777217", 16777216.0),
        (pa.decimal128(10, 2), '"12.30"', Decimal("12.30")),
        (pa.decimal128(10, 2), '"-1e2"', Decimal(-100)),
        (pa.decimal128(10, 2), "7", Decimal(7)),
        (pa.decimal128(10, 2), "12.3", Decimal("12.3")),
        (pa.decimal128(38, 18), "0.100000000000000001", Decimal("0.100000000000000001")),
        (pa.list_(pa.int8()), "[1,null,2]", [1, None, 2]),
        (pa.list_(pa.list_(pa.string())), '[[],null,["a"]]', [[], None, ["a"]]),
        (pa.decimal128(38, 0), "1" * 38, Decimal("1" * 38)),
        (pa.string(), '"a\\u0000\u00e9"', "a\0\u00e9"),
        (pa.binary(), '"AP8="', b"\0\xff"),
        (UUID, '"A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11"', uuid.UUID(IDENTIFIER)),
        (JSON, '"{\\"b\\": 1.50, \\"a\\": [1]}"', '{"a": [1], "b": 1.5}'),
        (INTERVAL, "3600000001", interval_constant(Interval(0, 0, 3_600_000_001))),
        (INTERVAL, '"P1Y2M3DT4H5M6.5S"', interval_constant(Interval(14, 3, 14_706_500_000))),
    ],
)
def test_values_are_typed_exactly(dtype: pa.DataType, text: str, value: object) -> None:
    assert taken(dtype, text) == value


@pytest.mark.parametrize(
    ("dtype", "text", "iso"),
    [
        (pa.date32(), "18262", "2020-01-01"),
        (pa.date32(), "-1", "1969-12-31"),
        (pa.date32(), '"2020-02-29"', "2020-02-29"),
        (pa.time64("us"), "1500000", "00:00:01.500000"),
        (pa.time64("us"), '"23:59:59.999999"', "23:59:59.999999"),
        (pa.timestamp("us"), "1577836800000001", "2020-01-01T00:00:00.000001"),
        (pa.timestamp("us"), '"2020-01-01T00:00:00"', "2020-01-01T00:00:00"),
        (pa.timestamp("us", "UTC"), "0", "1970-01-01T00:00:00+00:00"),
        (pa.timestamp("us", "UTC"), '"2020-01-01T02:00:00+02:00"', "2020-01-01T00:00:00+00:00"),
    ],
)
def test_dates_and_times_come_as_counts_or_iso_strings(
    dtype: pa.DataType, text: str, iso: str
) -> None:
    assert taken(dtype, text).isoformat() == iso


@pytest.mark.parametrize("dtype", [pa.float32(), pa.float64()])
def test_what_json_has_no_number_for_comes_as_kafka_connect_spells_it(dtype: pa.DataType) -> None:
    assert math.isnan(taken(dtype, '"NaN"'))
    assert taken(dtype, '"Infinity"') == math.inf
    assert taken(dtype, '"-Infinity"') == -math.inf
    assert str(taken(pa.list_(dtype), '[1.5,"NaN",null]')) == "[1.5, nan, None]"


def test_counts_and_iso_strings_may_be_mixed() -> None:
    spec = typed(pa.date32())
    decoded = run(with_value("1"), with_value('"1970-01-01"'), with_value("null"), spec=spec)
    assert decoded.rows["v"].cast(pa.int32()).to_pylist() == [1, 0, None]


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (pa.bool_(), "1"),
        (pa.int64(), "true"),
        (pa.list_(pa.int64()), "1"),
        (pa.list_(pa.int64()), '[1,"2"]'),
        (pa.int64(), "1.0"),
        (pa.int64(), '"1"'),
        (pa.float64(), "true"),
        (pa.float64(), '"1.5"'),
        (pa.float64(), '"nan"'),
        (pa.decimal128(10, 2), "true"),
        (pa.decimal128(10, 2), '"NaN"'),
        (pa.decimal128(10, 2), '""'),
        (pa.decimal128(10, 2), '" 1"'),
        (pa.decimal128(10, 2), '"1_000"'),
        (pa.string(), "1"),
        (pa.string(), "{}"),
        (pa.binary(), '"not base64!"'),
        (UUID, '"a0eebc99"'),
        (UUID, "7"),
        (JSON, '"{"'),
        (INTERVAL, '"1 parsec"'),
        (pa.date32(), "1.5"),
        (pa.date32(), '"2020-02-30"'),
        (pa.date32(), '"01/02/2020"'),
        (pa.time64("us"), '"25:00:00"'),
        (pa.time64("us"), '"10:00:00+02:00"'),
        (pa.timestamp("us"), '"2020-01-01T00:00:00Z"'),
        (pa.timestamp("us", "UTC"), '"2020-01-01T00:00:00"'),
    ],
)
def test_a_value_of_another_type_is_refused(dtype: pa.DataType, text: str) -> None:
    assert refused(dtype, text) == "wrong-type"


@pytest.mark.parametrize(
    ("dtype", "text"),
    [
        (pa.int8(), "128"),
        (pa.uint8(), "-1"),
        (pa.int64(), "9223372036854775808"),
        (pa.int64(), "123456789012345678901234567890"),
        (pa.float32(), "1e300"),
        (pa.float64(), "9007199254740993"),
        (pa.decimal128(4, 2), '"100.00"'),
        (pa.decimal128(4, 2), '"1.005"'),
        (pa.decimal128(4, 2), "1.005"),
        (pa.date32(), "2932897"),
        (pa.date32(), "-719163"),
        (pa.date32(), "99999999999"),
        (pa.time64("us"), "86400000000"),
        (pa.time64("us"), "-1"),
        (pa.timestamp("us"), "253402300800000000"),
        (pa.timestamp("us"), "-62135596800000001"),
    ],
)
def test_a_value_beyond_its_type_is_refused(dtype: pa.DataType, text: str) -> None:
    assert refused(dtype, text) == "out-of-range"


def test_null_is_refused_where_the_column_is_not_nullable() -> None:
    decoded = run(with_value("null"), spec=typed(pa.string(), nullable=False))
    assert [r.reason for r in decoded.rejected] == ["null-value"]


def test_a_number_in_a_float_column_is_taken_beside_one_in_a_decimal_column() -> None:
    types = {"id": pa.int64(), "d": pa.decimal128(5, 2), "f": pa.float64()}
    schema = pa.schema([pa.field(name, dtype) for name, dtype in types.items()])
    value = b'{"op":"c","after":{"id":1,"d":1.25,"f":0.1}}'
    decoded = run(value, spec=TableSpec("t", "t", schema, ("id",)))
    assert updates(decoded) == [(100, 1, (1, Decimal("1.25"), 0.1))]


def test_binary_round_trips() -> None:
    value = bytes(range(256))
    text = orjson.dumps(base64.b64encode(value).decode()).decode()
    assert taken(pa.binary(), text) == value


ODD_NUMBERS = [
    *["1e-99999999999999999999", "36893488147419103233", "1e30", "2.0", "-0", "7"],
    "[" * 1000 + "]" * 1000,
]


@pytest.mark.parametrize("dtype", [pa.float64(), pa.int64(), pa.string(), pa.decimal128(38, 0)])
@pytest.mark.parametrize("text", ODD_NUMBERS)
def test_a_record_fares_the_same_beside_a_decimal_written_as_a_number(
    dtype: pa.DataType, text: str
) -> None:
    columns = [("id", pa.int64()), ("v", dtype), ("price", pa.decimal128(8, 2))]
    spec = TableSpec("t", "t", pa.schema(columns), ("id",))

    def priced(value: str, price: str) -> bytes:
        row = f'{{"id":1,"v":{value},"price":{price}}}'
        return b'{"op":"c","after":' + row.encode() + b"}"

    odd = priced(text, "null")
    alone, beside = run(odd, spec=spec), run(odd, priced("null", "1.10"), spec=spec)
    assert beside.rejected == alone.rejected
    assert updates(beside)[:-1] == updates(alone)
    assert updates(beside)[-1][2][2] == Decimal("1.10")


def test_a_deeply_nested_field_is_ignored_beside_a_decimal_written_as_a_number() -> None:
    deep = b'{"op":"c","after":{"id":1,"v":1,"x":' + b"[" * 1000 + b"]" * 1000 + b"}}"
    decoded = run(deep, with_value("1.10"), spec=typed(pa.decimal128(8, 2)))
    assert [row["v"] for row in decoded.rows.to_pylist()] == [Decimal(1), Decimal("1.10")]
