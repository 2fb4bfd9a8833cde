"""Kinds of tables, with good records of each: what the fuzzer of records begins with."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson
import pyarrow as pa

from connectors.formats.schemas import SchemaId
from connectors.records import Headers
from connectors.tables.spec import TableSpec
from ivm.values.types import INTERVAL, JSON, UUID
from tests.unit.connectors.protobufs import framed, message
from tests.unit.connectors.writers import Writers, envelope_schema, kafka, row_schema, written

_FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("name", pa.string(), nullable=False),
    pa.field("price", pa.decimal128(12, 2)),
    pa.field("weight", pa.float64()),
    pa.field("active", pa.bool_()),
    pa.field("day", pa.date32()),
    pa.field("at", pa.timestamp("us")),
    pa.field("seen", pa.timestamp("us", "UTC")),
    pa.field("clock", pa.time64("us")),
    pa.field("code", UUID),
    pa.field("doc", JSON),
    pa.field("span", INTERVAL),
    pa.field("photo", pa.binary()),
    pa.field("tags", pa.list_(pa.string())),
    pa.field("counts", pa.list_(pa.int32())),
]
SCHEMA = pa.schema(_FIELDS)
# Columns that every format writes in one way.
_PLAIN = pa.schema([SCHEMA.field(name) for name in ("id", "name", "price", "day", "doc", "tags")])

_DOCUMENTS = pa.schema([SCHEMA.field("id"), SCHEMA.field("doc")])


@dataclass(frozen=True, slots=True)
class Record:
    """A record without its place."""

    value: bytes | None
    key: bytes | None = None
    headers: Headers | None = None


@dataclass(frozen=True, slots=True)
class Kind:
    """A table, the schemas of its writers, and good records of its topic."""

    name: str
    table: TableSpec
    records: Sequence[Record]
    writers: Writers | None = None


def row(number: int, **changed: Any) -> dict[str, Any]:
    """A row as JSON without a schema has it."""
    return {
        "id": number,
        "name": f"thing {number}",
        "price": "12.50",
        "weight": 0.5,
        "active": True,
        "day": 18262,
        "at": 1_577_836_800_000_001,
        "seen": "2020-01-01T02:00:00+02:00",
        "clock": 1_500_000,
        "code": "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11",
        "doc": '{"a": [1, 2.5]}',
        "span": 3_600_000_000,
        "photo": "AP8=",
        "tags": ["a", None],
        "counts": [1, 2],
    } | changed


def _texts(number: int) -> dict[str, Any]:
    """A row as Canal has it."""
    plain = {"id": str(number), "name": "a", "price": "1.5", "day": "2020-01-01"}
    return {**plain, "doc": "[1]", "tags": '["a"]'}


_SOURCE = {"lsn": 9, "sequence": '["5","9"]'}
_UNAVAILABLE = "__debezium_unavailable_value"


def _debezium() -> list[Record]:
    """Change records of each kind, with keys."""
    a, b, sparse = row(1), row(1, doc={"a": [0.25]}), row(2, price=None, tags=None, doc=None)
    toast = row(1, doc=_UNAVAILABLE, photo="X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==")
    envelopes: list[dict[str, Any]] = [
        {"op": "r", "after": a},
        {"op": "c", "after": sparse, "source": _SOURCE, "ts_ms": 7},
        {"op": "u", "before": a, "after": b, "source": _SOURCE},
        {"op": "u", "before": a, "after": toast, "source": {"file": "bin.0007", "pos": 4}},
        {"op": "u", "before": {"id": 1}, "after": sparse},
        {"op": "d", "before": b},
        {"op": "d", "before": None},
        {"op": "t"},
        {"op": "m", "message": {}},
    ]
    records = [Record(orjson.dumps(envelope), b'{"id":1}') for envelope in envelopes]
    return [*records, Record(None, b'{"id":1}'), Record(b"null")]


def _connect() -> list[Record]:
    """Change records whose schema stands beside them."""
    types = {"id": "int64", "name": "string", "price": "string", "doc": "string"}
    fields = [{"field": n, "type": t, "optional": n != "id"} for n, t in types.items()]
    fields.append({"field": "day", "type": "int32", "name": "io.debezium.time.Date"})
    fields.append({"field": "tags", "type": "array", "items": {"type": "string"}})
    images = [{"field": f, "type": "struct", "fields": fields} for f in ("before", "after")]
    schema = {"type": "struct", "fields": [*images, {"field": "op", "type": "string"}]}
    a = {"id": 1, "name": "a", "price": "1.5", "day": 1, "doc": "[1]", "tags": ["x"]}
    payloads = [{"op": "c", "after": a}, {"op": "u", "after": {**a, "name": "b"}},
                {"op": "d", "before": a}, None]  # fmt: skip
    return [
        Record(orjson.dumps({"schema": schema, "payload": payload}), b'{"id":1}')
        for payload in payloads
    ]


_AVRO = {
    "id": "long",
    "name": "string",
    "price": ["null", {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}],
    "day": ["null", {"type": "int", "logicalType": "date"}],
    "doc": ["null", "string"],
    "tags": ["null", {"type": "array", "items": ["null", "string"]}],
}
_AVRO_ROW = {"id": 1, "name": "a", "price": b"\1\2", "day": 5, "doc": "{}", "tags": ["a", None]}


def _avro() -> Kind:
    writers = Writers()
    plain = {**_AVRO, "price": ["null", {"type": "bytes"}], "day": ["null", "int"]}
    schema, writing = envelope_schema(**_AVRO), envelope_schema(**plain)
    number = writers.add(schema)
    narrow = writers.add(envelope_schema(id="int", name="string", price="string"))
    key = writers.record(row_schema(id="long"), {"id": 1})
    writers.add(schema, name=SchemaId("global", "7"))
    contents = [
        written(writing, {"ts_ms": 1, "before": None, "after": None, **envelope})
        for envelope in (
            {"op": "c", "after": _AVRO_ROW},
            {"op": "u", "before": _AVRO_ROW, "after": {**_AVRO_ROW, "name": "b"}},
            {"op": "d", "before": _AVRO_ROW},
            {"op": "d"},
        )
    ]
    small = {"op": "c", "ts_ms": 2, "before": None,
             "after": {"id": 3, "name": "c", "price": "1"}}  # fmt: skip
    narrowed = written(envelope_schema(id="int", name="string", price="string"), small)
    records = [Record(_framed(number, content), key) for content in contents]
    records += [
        Record(_framed(narrow, narrowed), key),
        Record(contents[0], key, [("apicurio.value.globalId", (7).to_bytes(8, "big"))]),
        Record(None, key),
    ]
    return Kind("debezium avro", kafka(_PLAIN, format="avro"), records, writers)


def _framed(number: int, content: bytes) -> bytes:
    return b"\0" + number.to_bytes(4, "big") + content


_PROTO = """syntax = "proto3"; package shop;
    message Envelope { Row before = 1; Row after = 2; string op = 3; optional int64 ts_ms = 4; }
    message Row {
        int64 id = 1; string name = 2; optional string price = 3; optional string day = 4;
        oneof content { string doc = 5; string other = 6; } repeated string tags = 7;
    }
    message Key { int64 id = 1; }"""


def _protobuf() -> Kind:
    number = (writers := Writers()).add_texts(_PROTO)
    one = {"id": 1, "name": "a", "price": "1.5", "day": "2020-01-01", "doc": "[1]", "tags": ["a"]}
    envelopes: list[dict[str, Any]] = [
        {"op": "c", "after": one, "ts_ms": 7},
        {"op": "u", "before": {"id": 1}, "after": one | {"name": "b"}},
        {"op": "u", "after": {"id": 2, "name": "b", "other": "c"}},
        {"op": "d", "before": one},
        {"op": "d"},
    ]
    key = framed(number, message(_PROTO, "shop.Key", {"id": 1}), 2)
    contents = [message(_PROTO, "shop.Envelope", envelope) for envelope in envelopes]
    records = [Record(framed(number, content), key) for content in contents]
    table = kafka(_PLAIN, format="protobuf")
    return Kind("debezium protobuf", table, [*records, Record(None, key)], writers)


def _maxwell() -> list[Record]:
    a, plain = row(1), {"database": "d", "table": "t", "ts": 5, "position": "master.000001:7"}
    return [
        Record(orjson.dumps(plain | record))
        for record in (
            {"type": "insert", "data": a},
            {"type": "update", "data": a, "old": {"name": "z"}},
            {"type": "update", "data": a, "old": {"id": 9}},
            {"type": "delete", "data": a},
            {"type": "table-alter", "def": {}},
        )
    ]


def _canal() -> list[Record]:
    plain = {"isDdl": False, "es": 1, "ts": 2, "pkNames": ["id"]}
    return [
        Record(orjson.dumps(plain | record))
        for record in (
            {"type": "INSERT", "data": [_texts(1), _texts(2)]},
            {"type": "UPDATE", "data": [_texts(1)], "old": [{"name": "z"}]},
            {"type": "UPDATE", "data": [_texts(1)], "old": [{"id": "9"}]},
            {"type": "DELETE", "data": [_texts(1)]},
            {"type": "TRUNCATE", "isDdl": True},
            {"type": "ALTER", "isDdl": True},
        )
    ]


def _upserts() -> list[Record]:
    values = [orjson.dumps(row(1)), orjson.dumps(row(2, price=None)), None]
    keys = [b'{"id":1}', b"2", b'{"schema":null,"payload":{"id":3}}']
    return [Record(value, key) for value in values for key in keys]


def _flat() -> list[Record]:
    """Rows with the marks of each way to write deletions, with keys and without."""
    a, unavailable = row(1, __deleted="false", __op="u", __lsn=7), row(1, doc=_UNAVAILABLE)
    gone = {**dict.fromkeys(row(1)), "id": 1, "__deleted": "true"}
    rows = [a, unavailable, gone, row(2, __op="r"), row(2, __op="d")]
    keyed = [Record(orjson.dumps(one), orjson.dumps({"id": one["id"]})) for one in rows]
    return [*keyed, *(Record(orjson.dumps(one)) for one in rows), Record(None, b'{"id":1}')]


def _mongodb() -> list[Record]:
    """Documents as texts, and their deletions."""
    texts = ['{"_id": 1, "n": 2.50}', '{"_id": {"$numberLong": "2"}}', '{"_id": 3, "tags": ["a"]}']
    envelopes: list[dict[str, Any]] = [
        {"op": "r", "after": texts[0], "ts_ms": 5},
        {"op": "c", "before": None, "after": texts[1]},
        {"op": "u", "after": texts[2], "updateDescription": {"updatedFields": '{"n": 1}'}},
        {"op": "d", "before": texts[0]},
        {"op": "d", "before": None, "after": None},
    ]
    records = [Record(orjson.dumps(envelope), b'{"id":"1"}') for envelope in envelopes]
    return [*records, Record(None, b'{"id":"1"}')]


def _kinds() -> list[Kind]:
    lines = [b'1,a,1.50,2020-01-01,"[1]","[""x""]"', b"2,b,,,,", b'3,"a,b",7,,,']
    upsert = kafka(SCHEMA, envelope="upsert")
    whole = kafka(SCHEMA, replica_identity="full")
    transactional = kafka(SCHEMA, resolution="transaction", transaction_topic="t.transaction")
    maxwell = kafka(SCHEMA, envelope="maxwell", replica_identity="full")
    appended = kafka(_PLAIN, (), envelope="append", format="csv")
    body = pa.schema([pa.field("body", pa.string()), pa.field("k", pa.string())])
    raw = kafka(body, (), envelope="append", format="bytes", metadata={"k": "key"})
    return [
        Kind("debezium", transactional, _debezium()),
        Kind("debezium full", whole, _debezium()),
        Kind("debezium connect", kafka(_PLAIN), _connect()),
        _avro(),
        _protobuf(),
        Kind("flat", kafka(SCHEMA, envelope="flat"), _flat()),
        Kind("upsert", upsert, _upserts()),
        Kind("append", kafka(SCHEMA, (), envelope="append"), _upserts()),
        Kind("maxwell", maxwell, _maxwell()),
        Kind("maxwell keyed", kafka(SCHEMA, envelope="maxwell"), _maxwell()),
        Kind("canal", kafka(_PLAIN, envelope="canal"), _canal()),
        Kind("mongodb", kafka(_DOCUMENTS, envelope="mongodb"), _mongodb()),
        Kind("csv", appended, [Record(line) for line in lines]),
        Kind("bytes", raw, [Record(b"abc", b"k"), Record("\u00e9".encode()), Record(b"", b"")]),
    ]


KINDS = {kind.name: kind for kind in _kinds()}
