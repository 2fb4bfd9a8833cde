"""Records are decoded natively as they are exactly, and what is usual is never refused."""

import math
from collections.abc import Sequence
from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.columnwise import columnwise
from connectors.declaration import Csv
from connectors.decode import decode, decode_exactly
from connectors.records import Column, Records
from connectors.tables.spec import TableSpec, type_of
from tests.fuzz.kinds import KINDS
from tests.fuzz.records import outcome
from tests.unit.connectors.writers import Writers, envelope_schema, kafka, row_schema, written

ID: pa.Field = pa.field("id", pa.int64(), nullable=False)


def of(values: Sequence[bytes | None], keys: Sequence[bytes | None] | None = None) -> Records:
    return Records(values, range(7, 7 + len(values)), 0, keys, [5] * len(values))


def assert_same(records: Records, table: TableSpec, writers: Writers | None = None) -> None:
    found, exact = decode(records, table, writers), decode_exactly(records, table, writers)
    assert repr(list(outcome([found]))) == repr(list(outcome([exact])))  # NaN is like NaN
    assert found.ts_ms.tolist() == exact.ts_ms.tolist()


def taken(records: Records, table: TableSpec) -> int:
    """The number of records taken natively before the first that is refused."""
    found = columnwise(records, 0, table)
    return 0 if found is None else found[1]


def column(type_name: str, **fields: Any) -> TableSpec:
    """A table whose rows have a key and a column `v` of this type."""
    return kafka(pa.schema([ID, pa.field("v", type_of(type_name))]), **fields)


def row(text: str) -> bytes:
    return f'{{"op":"c","after":{{"id":1,"v":{text}}}}}'.encode()


USUAL = {
    "int64": ("0", "-17", "null", "999999999999999999"),
    "int8": ("127", "-128"),
    "uint64": ("0", "18"),
    "float64": ("0.1", "-2.5e-3", "12", "1E10"),
    "float32": ("0.1", "16777217", "1e-3"),
    "bool": ("true", "false"),
    "utf8": ('""', '"é"', r'"a\n\"\\\/A"', r'"\u00e9\u20ac\ud83d\ude00"', '"\U0001f600"'),
    "binary": ('""', '"AP8="', '"AQ=="', '"QUJD"'),
    "decimal128(12, 2)": ('"12.50"', '"-0.5"', "7", "1.25", "-3", '"9999999999.99"'),
    "decimal128(38, 0)": ('"99999999999999999999999999999999999999"', "1"),
    "date32": ("18262", '"2020-02-29"', "-719162"),
    "time64[us]": ("1", '"12:30:59"', '"00:00:00.123"', '"00:00:00.123456"'),
    "timestamp[us]": ("1577836800000001", '"2020-01-01T00:00:00"', '"0001-01-01 00:00:00.5"'),
    "timestamp[us, tz=UTC]": ('"2020-01-01T00:00:00Z"', '"2020-01-01T02:00:00.25+02:00"'),
    "interval": ("3600000000", '"1 day"'),
    "uuid": ('"a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"',),
    "json": (r'"{\"a\": 1}"', '{"b": 2.50, "a": [1]}', "1.10", "true"),
    "list<utf8>": ('["a", null]', "[]"),
    "list<decimal128(5, 2)>": ("[1.5, 2]",),
}
ODD = (
    *("null", "true", "false", "0", "-0", "01", "1.", ".5", "+1", "1e5", "1.0", "0.0", "-0.0"),
    *("1e400", "1e-400", "1e99", "123456789012345678901234567890", "9223372036854775807"),
    *("9223372036854775808", "-9223372036854775808", "18446744073709551615", "9007199254740993"),
    *("128", "-129", "65536", "1.005", "99999999999.5", "100000000", "7258118399999", "2932897"),
    *('"1"', '"1.5"', '" 1.5"', '"1,5"', '"1e2"', '"-"', '"."', '"1."', '".5"', '"+1"', '"007.10"'),
    *('"NaN"', '"Infinity"', '"-Infinity"', '"nan"', '""', '"a"', r'"\u0000"', r'"\ud800"'),
    *(r'"\udc00\ud800"', r'"\x41"', '"\t"', r'"\u12"', '"2020-02-30"', '"2019-02-29"'),
    *('"0000-01-01"', '"2020-1-01"', '"2020-01-01T24:00:00"', '"2020-01-01T23:59:60"'),
    *('"2020-01-01"', '"2020-01-01T01"', '"2020-01-01T00:00:00.1234567"', '"9999-12-31T23:59:59Z"'),
    *('"2020-01-01T00:00:00+02"', '"2020-01-01T00:00:00-15:00"', '"0001-01-01T00:00:00+01:00"'),
    *('"12:00"', '"12:00:00.5"', '"12:00:00Z"', '"25:00:00"', '"AQ"', '"AR=="', '"A==="', '"=AAA"'),
    *(r'"AP8\/"', '"__debezium_unavailable_value"', "{}", "[]", '{"a":1,"a":2}', "[1,]", '{"a"}'),
    *("[[[[1]]]]", "nul", "tru", '"', "{", "", "1 2", '["__debezium_unavailable_value"]'),
    *("1e999999999999", "1E+07", "-1.50", '"12.345"', '"99999999999.99"', "123456789012345678"),
)
NAMES = [(name, text) for name in USUAL for text in USUAL[name]]


@pytest.mark.parametrize(("type_name", "text"), NAMES)
def test_a_usual_value_is_taken_and_is_the_same(type_name: str, text: str) -> None:
    table, records = column(type_name), of([row(text)])
    assert taken(records, table) == 1
    assert_same(records, table)


@pytest.mark.parametrize("type_name", USUAL)
def test_an_odd_value_is_the_same(type_name: str) -> None:
    table = column(type_name)
    everything = [row(text) for text in (*ODD, *(text for _, text in NAMES))]
    for one in everything:
        assert_same(of([one]), table)
    assert_same(of(everything), table)


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("type_name", ["timestamp[us]", "time64[us]"])
def test_counts_of_a_declared_unit_are_the_same(type_name: str, unit: str) -> None:
    table = column(type_name, encodings={"v": unit})
    counts = [0, 1, -1, 999, 1000, 86_399_999, 1_577_836_800_000, 10**17, -(10**17), 10**18]
    records = of([row(str(count)) for count in counts])
    assert taken(of([row("5000")]), table) == 1
    assert_same(records, table)


@pytest.mark.parametrize("name", ["debezium", "debezium full", "flat", "maxwell", "maxwell keyed"])
def test_records_of_each_kind_are_the_same_one_by_one(name: str) -> None:
    kind = KINDS[name]
    for record in kind.records:
        assert_same(of([record.value], [record.key]), kind.table)


PLAIN = pa.schema(
    [ID, pa.field("name", pa.string()), pa.field("price", type_of("decimal128(9, 2)"))]
)
A, B = {"id": 1, "name": "a", "price": "1.5"}, {"id": 1, "name": "b", "price": "2"}
SOURCE = {"sequence": '["20","24"]', "lsn": 3}
SCHEMA = {
    "type": "struct",
    "fields": [
        {
            "field": "after",
            "type": "struct",
            "fields": [
                {"field": "id", "type": "int64"},
                {"field": "name", "type": "string"},
                {
                    "field": "price",
                    "type": "bytes",
                    "name": "org.apache.kafka.connect.data.Decimal",
                    "parameters": {"scale": "2"},
                },
            ],
        }
    ],
}
KEY = {"type": "struct", "fields": [{"field": "id", "type": "int64"}]}
USUAL_RECORDS: dict[str, tuple[dict[str, Any], list[Any], list[Any] | None]] = {
    "debezium": (
        {},
        [
            {"op": "r", "before": None, "after": A, "source": SOURCE, "ts_ms": 9},
            {"op": "u", "before": None, "after": B, "source": SOURCE, "ts_ms": 10},
            {"op": "u", "before": {"id": 1}, "after": A, "source": {"file": "b.0002", "pos": 7}},
            {"op": "d", "before": {"id": 1}, "after": None, "source": {"file": None}},
            None,
        ],
        None,
    ),
    "debezium full": (
        {"replica_identity": "full"},
        [{"op": "c", "after": A}, {"op": "u", "before": A, "after": B}, {"op": "d", "before": B}],
        None,
    ),
    "debezium with schemas": (
        {},
        [
            {"schema": SCHEMA, "payload": {"op": op, "before": A, "after": A | {"price": "AJY="}}}
            for op in "cru"
        ],
        None,
    ),
    "flat": (
        {"envelope": "flat"},
        [A, B | {"__deleted": "false"}, A | {"__deleted": "true"}, B | {"__op": "d"}, None],
        [{"id": 1}] * 5,
    ),
    "flat without keys": ({"envelope": "flat"}, [A, B | {"__op": "u"}], None),
    "upsert": ({"envelope": "upsert"}, [A, {"name": "b", "price": 5}, None], [1, {"id": 2}, 3]),
    "upsert with schemas of keys": (
        {"envelope": "upsert"},
        [A, None],
        [{"schema": KEY, "payload": {"id": 5}}] * 2,
    ),
    "append": ({"envelope": "append", "key": ()}, [A, B], None),
    "maxwell": (
        {"envelope": "maxwell", "replica_identity": "full"},
        [
            {"type": "insert", "ts": 5, "position": "bin.0003:17", "data": A},
            {"type": "update", "ts": 5, "data": B, "old": {"name": "a"}},
            {"type": "delete", "data": A},
        ],
        None,
    ),
    "canal": (
        {"envelope": "canal"},
        [
            {"type": "INSERT", "isDdl": False, "es": 7, "data": [A | {"id": "1"}]},
            {"type": "UPDATE", "ts": 8, "data": [A | {"id": "1"}], "old": [{"name": "z"}]},
            {"type": "DELETE", "data": [A | {"id": "1"}]},
        ],
        None,
    ),
}


@pytest.mark.parametrize("name", USUAL_RECORDS)
def test_usual_records_are_taken_and_are_the_same(name: str) -> None:
    fields, values, keys = USUAL_RECORDS[name]
    table = kafka(PLAIN, **({"key": ("id",)} | fields))
    records = of(_texts(values), None if keys is None else _texts(keys))
    assert taken(records, table) == len(values)
    assert_same(records, table)


def _texts(values: Sequence[Any]) -> list[bytes | None]:
    return [None if value is None else orjson.dumps(value) for value in values]


@pytest.mark.parametrize("name", USUAL_RECORDS)
def test_records_out_of_arrow_are_the_same(name: str) -> None:
    fields, values, keys = USUAL_RECORDS[name]
    table = kafka(PLAIN, **({"key": ("id",)} | fields))
    texts, of_keys = _texts(values) * 2, _texts(keys or [None] * len(values)) * 2
    texts[len(values)] = b"{"
    count = len(texts)
    times, padding = pa.array(range(count + 3)), pa.array([b"x", None, b""])
    arrays = [pa.concat_arrays([padding, pa.array(t, pa.binary())])[3:] for t in (texts, of_keys)]
    found = Records(Column(arrays[0]), range(count), 0, Column(arrays[1]), Column(times[3:]))
    plain = Records(texts, list(range(count)), 0, of_keys, list(range(3, count + 3)))
    assert list(outcome([decode(found, table)])) == list(outcome([decode_exactly(plain, table)]))
    assert decode(found, table).rejected == decode_exactly(plain, table).rejected


def test_columns_of_metadata_are_the_same() -> None:
    fields: list[pa.Field] = [ID, pa.field("p", pa.int32()), pa.field("at", pa.timestamp("us"))]
    table = kafka(pa.schema(fields), metadata={"p": "partition", "at": "timestamp"})
    records = of([b'{"op":"c","after":{"id":1}}', None, b'{"op":"d","before":{"id":1}}'])
    assert taken(records, table) == 3
    assert_same(records, table)


@pytest.mark.parametrize("envelope", ["debezium", "upsert", "flat"])
def test_a_topic_in_the_key_is_taken_and_is_the_same(envelope: str) -> None:
    schema = PLAIN.append(pa.field("t", pa.string(), nullable=False))
    table = kafka(schema, ("t", "id"), envelope=envelope, metadata={"t": "topic"})
    if envelope == "debezium":
        changes = [("c", None, A), ("u", A, B), ("d", B, None)]
        told = _texts([{"op": op, "before": old, "after": new} for op, old, new in changes])
        records = of(told)
    else:
        records = of([*_texts([A, B]), None], _texts([{"id": 1}, {"id": 2}, {"id": 1}]))
    assert taken(records, table) == 3
    assert_same(records, table)


def test_rows_with_keys_among_others_without_are_those_of_their_keys() -> None:
    table = kafka(PLAIN, envelope="flat")
    keys = [None, b'{"id":7}', None, None, b'{"id":8}', b'{"id":9}', None]
    for some in (keys, keys[1:]):
        assert_same(of(_texts([A] * len(some)), some), table)


def test_values_that_were_not_logged_are_left_out_in_the_same_way() -> None:
    away = "__debezium_unavailable_value"
    photo = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ=="
    schema = PLAIN.append(pa.field("photo", pa.binary(), nullable=False))
    rows = [A | {"photo": "AP8="}, A | {"name": away, "photo": photo}, B | {"photo": photo}]
    values = [{"op": "u", "after": row} for row in (*rows, A | {"price": away, "photo": ""})]
    table = kafka(schema)
    assert taken(of(_texts(values)), table) == 4
    assert decode(of(_texts(values)), table).missing == [(), (1, 3), (3,), (2,)]
    assert_same(of(_texts(values)), table)
    bad = {"op": "u", "after": A | {"id": away, "photo": photo}}
    assert_same(of(_texts([*values, bad, *values])), table)
    assert_same(of(_texts([*values, bad, *values])), kafka(schema, replica_identity="full"))


def test_what_follows_a_refused_record_is_taken_again() -> None:
    table = kafka(PLAIN)
    good = orjson.dumps({"op": "c", "after": A})
    assert_same(of([good, b"{", *[good] * 40, b"[]", None, *[good] * 3]), table)


@pytest.mark.parametrize("sequence", [None, 5, "x", '["1"]', '["1","2","3"]', '["-1","2"]'])
@pytest.mark.parametrize("op", ["c", "r"])
def test_positions_are_the_same_whatever_stands_beside_them(sequence: Any, op: str) -> None:
    sources: list[Any] = [
        {"sequence": sequence, "file": "bin.0002", "pos": 4},
        {"sequence": sequence, "file": "bin.0002", "pos": 4, "gtid": "x"},
        {"sequence": '[null,"4"]'},
        {"sequence": sequence},
        *(None, 1, {}),
    ]
    values = [{"op": op, "after": A, "source": source} for source in sources]
    assert_same(of(_texts(values)), kafka(PLAIN))
    for value in values:
        assert_same(of(_texts([value])), kafka(PLAIN))


AVRO_FIELDS: dict[str, Any] = {
    "id": "long",
    "name": ["null", "string"],
    "price": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}],
    "day": ["null", {"type": "int", "logicalType": "date"}],
    "at": {"type": "long", "logicalType": "timestamp-millis"},
    "weight": "double",
    "height": ["null", "float"],
    "active": ["boolean", "null"],
    "photo": ["null", "bytes"],
    "doc": ["null", {"type": "string", "connect.name": "io.debezium.data.Json"}],
    "code": ["null", "string"],
    "kind": {"type": "enum", "name": "K", "symbols": ["A", "B"]},
    "more": {"type": "map", "values": {"type": "array", "items": ["null", "string"]}},
    "sized": {"type": "fixed", "name": "F", "size": 3},
}
AVRO_SCHEMA = pa.schema(
    [
        ID,
        pa.field("name", pa.string()),
        pa.field("price", type_of("decimal128(9, 2)")),
        pa.field("day", pa.date32()),
        pa.field("at", pa.timestamp("us")),
        pa.field("weight", pa.float64()),
        pa.field("height", pa.float32()),
        pa.field("active", pa.bool_()),
        pa.field("photo", pa.binary()),
        pa.field("doc", type_of("json")),
        pa.field("code", type_of("uuid")),
    ]
)
AVRO_ROW = {
    "id": -3,
    "name": "é",
    "price": b"\xff\x01",
    "day": 18262,
    "at": 1_577_836_800_001,
    "weight": math.nan,
    "height": 0.1,
    "active": False,
    "photo": b"\0\xff",
    "doc": '{"a": 1.50}',
    "code": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
    "kind": "B",
    "more": {"x": ["y", None], "z": []},
    "sized": b"abc",
}
AVRO_NULLS = AVRO_ROW | dict.fromkeys(n for n, t in AVRO_FIELDS.items() if "null" in t)


def avro_records() -> tuple[list[bytes | None], Writers, Any, int]:
    """Usual records, the writer's schema and its id."""
    writers = Writers()
    schema = envelope_schema(**AVRO_FIELDS)
    number = writers.add(schema)
    envelopes: list[dict[str, Any]] = [
        {"op": "c", "before": None, "after": AVRO_ROW, "ts_ms": 4},
        {"op": "u", "before": AVRO_ROW, "after": AVRO_NULLS, "ts_ms": None},
        {"op": "d", "before": AVRO_ROW, "after": None, "ts_ms": 2**40},
        {"op": "r", "before": None, "after": AVRO_ROW | {"id": 2**62, "name": ""}, "ts_ms": 5},
    ]
    frame = b"\0" + number.to_bytes(4, "big")
    return [*(frame + written(schema, e) for e in envelopes), None], writers, schema, number


def test_usual_records_in_avro_are_taken_and_are_the_same() -> None:
    values, writers, _, _ = avro_records()
    table = kafka(AVRO_SCHEMA, format="avro")
    found = columnwise(of(values), 0, table, writers)
    assert found is not None
    assert found[1] == len(values)
    assert_same(of(values), table, writers)


def test_cut_and_changed_records_in_avro_are_the_same() -> None:
    values, writers, _, _ = avro_records()
    table = kafka(AVRO_SCHEMA, format="avro")
    for value in values[:-1]:
        assert value is not None
        for at in range(len(value)):
            for spoilt in (value[:at], value[:at] + b"\x80" + value[at + 1 :], value + b"\0"):
                assert_same(of([spoilt]), table, writers)


def test_rows_and_keys_in_avro_are_the_same() -> None:
    writers = Writers()
    schema, key = row_schema(name=["null", "string"]), row_schema(id="long")
    frames = [b"\0" + writers.add(one).to_bytes(4, "big") for one in (schema, key)]
    values = [frames[0] + written(schema, {"name": name}) for name in ("a", None)]
    keys = [frames[1] + written(key, {"id": number}) for number in (1, 2, 1)]
    fields: list[pa.Field] = [ID, pa.field("name", pa.string())]
    for envelope in ("upsert", "flat"):
        table = kafka(pa.schema(fields), format="avro", envelope=envelope)
        found = columnwise(of([*values, None], keys), 0, table, writers)
        assert found is not None
        assert found[1] == 3
        assert_same(of([*values, None], keys), table, writers)
        assert_same(of([*values, None], keys[::-1]), table, writers)


def test_headers_that_may_name_schemas_are_left_to_the_exact_decoder() -> None:
    values, writers, _, _ = avro_records()
    table = kafka(AVRO_SCHEMA, format="avro")
    headers: list[Any] = [None, [("x", b"")], None, None, None]
    records = Records(values, range(5), headers=headers)
    assert columnwise(records, 0, table, writers) is None
    assert columnwise(Records(values, range(5), headers=[None] * 5), 0, table, writers) is not None
    assert_same(records, table, writers)


LINES = [b"1,a,1.50", b'2,"b,c",', b'3,"",-7', b'"4",\xc3\xa9,0.25\r', b"5,,12"]
ODD_LINES = [
    *(b"", b",", b",,", b",,,", b'"', b'""', b'1,"a""b",2', b'1,a"b,2', b'1,"a"b,2', b"1,a"),
    *(
        b"1,a,2,3",
        b"x,a,2",
        b"1,\xff,2",
        b"1,a,2\n",
        b"1,a,2\r\n",
        b"1,a,2\n\r",
        b" 1,a, 2 ",
        b"NULL,a,",
    ),
    *(b'1,"a,2', b'1,"a",2,', b'1,a,"2"', b"1,NULL,NULL", b'1,"NULL","NULL"', b"1;'a';2", b"1;'';"),
]


@pytest.mark.parametrize(
    "form",
    [Csv(), Csv(null="NULL"), Csv(delimiter=";", quote="'"), Csv(delimiter="é")],
)
def test_lines_are_the_same(form: Csv) -> None:
    table = kafka(PLAIN, (), envelope="append", format="csv", csv=form)
    for line in (*LINES, *ODD_LINES):
        assert_same(of([line]), table)
    assert_same(of([*LINES, *ODD_LINES, *LINES]), table)


def test_usual_lines_are_taken() -> None:
    table = kafka(PLAIN, (), envelope="append", format="csv")
    assert taken(of(LINES), table) == len(LINES)
