"""Declarations of tables are checked, and travel as JSON."""

from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.declaration import Csv
from connectors.errors import InvalidTable
from connectors.tables.spec import TableSpec, type_name, type_of
from ivm.values.types import INTERVAL, JSON, UUID

TYPES = [
    pa.bool_(),
    pa.int8(),
    pa.int64(),
    pa.uint64(),
    pa.float32(),
    pa.float64(),
    pa.decimal128(12, 2),
    pa.date32(),
    pa.time64("us"),
    pa.timestamp("us"),
    pa.timestamp("us", "UTC"),
    pa.string(),
    pa.binary(),
    INTERVAL,
    JSON,
    UUID,
    pa.list_(pa.string()),
    pa.list_(UUID),
    pa.list_(pa.list_(pa.timestamp("us", "UTC"))),
]


@pytest.mark.parametrize("dtype", TYPES, ids=str)
def test_a_type_has_one_name(dtype: pa.DataType) -> None:
    assert type_of(type_name(dtype)) == dtype


@pytest.mark.parametrize(
    "name", ["int", "decimal128(39, 2)", "decimal128(2, 3)", "timestamp[ns]", "list<int>"]
)
def test_an_unknown_type_is_refused_with_the_choice(name: str) -> None:
    with pytest.raises(InvalidTable, match="choose from"):
        type_of(name)


@pytest.mark.parametrize("zone", ["Europe/Berlin", "+02:00"])
def test_an_instant_is_in_utc_whatever_zone_is_named(zone: str) -> None:
    assert type_of(f"timestamp[us, tz={zone}]") == pa.timestamp("us", "UTC")
    assert type_of(f"list<timestamp[us, tz={zone}]>") == pa.list_(pa.timestamp("us", "UTC"))


def test_an_unknown_time_zone_is_refused() -> None:
    with pytest.raises(InvalidTable, match="Nowhere"):
        type_of("timestamp[us, tz=Nowhere]")


def test_a_spec_survives_json() -> None:
    fields = [pa.field(f"c{n}", dtype, nullable=n % 2 == 0) for n, dtype in enumerate(TYPES)]
    spec = TableSpec("t", "shop.public.t", pa.schema(fields), ("c0", "c3"), on_error="stall")
    assert TableSpec.from_json(orjson.loads(orjson.dumps(spec.to_json()))) == spec


@pytest.mark.parametrize(
    ("topic", "columns", "key"),
    [
        ("../t", ["a"], ("a",)),
        ("", ["a"], ("a",)),
        ("a/b", ["a"], ("a",)),
        ("t", [], ()),
        ("t", ["a"], ()),
        ("t", ["a"], ("b",)),
        ("t", ["a"], ("a", "a")),
        ("t", ["a", "a"], ("a",)),
        ("t", ["a", "\0diff"], ("a",)),
    ],
)
def test_a_contradictory_declaration_is_refused(
    topic: str, columns: list[str], key: tuple[str, ...]
) -> None:
    schema = pa.schema([pa.field(name, pa.int64()) for name in columns])
    with pytest.raises(InvalidTable):
        TableSpec("t", topic, schema, key)


def test_a_column_of_an_unsupported_type_is_refused() -> None:
    with pytest.raises(InvalidTable, match="struct"):
        TableSpec("t", "t", pa.schema([pa.field("a", pa.struct([("b", pa.int64())]))]), ("a",))


def spec(**fields: Any) -> TableSpec:
    columns = fields.pop("columns", {"id": pa.int64(), "v": pa.string()})
    schema = pa.schema([pa.field(name, dtype) for name, dtype in columns.items()])
    return TableSpec("t", "t", schema, fields.pop("key", ("id",)), **fields)


KAFKA = {"connector": "kafka", "connection": "main"}


@pytest.mark.parametrize(
    "fields",
    [
        {**KAFKA, "format": "avro", "start": "latest"},
        {**KAFKA, "format": "avro", "envelope": "upsert", "start": {"timestamp": 7}},
        {
            **KAFKA,
            "start": {"offsets": {0: 5, 1: 0}},
            "resolution": "transaction",
            "transaction_topic": "x",
        },
        {"envelope": "append", "format": "csv", "key": (), "csv": Csv(";", "'", "NULL")},
        {"envelope": "maxwell", "replica_identity": "full", "resolution": "record"},
        {"envelope": "append", "key": (), "metadata": {"v": "topic"}},
        {
            "columns": {"id": pa.int64(), "d": pa.decimal128(9, 2), "t": pa.time64("us")},
            "encodings": {"d": "base64", "t": "ms"},
        },
        {**KAFKA, "envelope": "upsert", "key": ("v",), "metadata": {"v": "key"}},
    ],
)
def test_every_field_survives_json(fields: dict[str, Any]) -> None:
    declared = spec(**fields)
    assert TableSpec.from_json(orjson.loads(orjson.dumps(declared.to_json()))) == declared


def test_a_spec_of_before_the_connectors_still_loads() -> None:
    old = {
        "name": "t",
        "topic": "t",
        "columns": [{"name": "id", "type": "int64", "nullable": False}],
        "key": ["id"],
        "format": "json",
        "envelope": "debezium",
        "on_error": "stall",
    }
    loaded = TableSpec.from_json(old)
    assert (loaded.connector, loaded.start, loaded.on_error) == ("files", "earliest", "stall")


@pytest.mark.parametrize(
    ("fields", "is_keyed"),
    [
        ({}, True),
        ({"replica_identity": "full"}, False),
        ({"envelope": "canal"}, True),
        ({**KAFKA, "envelope": "upsert"}, True),
        ({"envelope": "append", "key": ()}, False),
    ],
)
def test_a_table_is_keyed_unless_its_records_hold_whole_rows(
    fields: dict[str, Any], is_keyed: bool
) -> None:
    assert spec(**fields).is_keyed is is_keyed


AT = {"columns": {"id": pa.int64(), "p": pa.int32(), "o": pa.int64(), "at": pa.int64()}}


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"connector": "kafka"}, "connection: .* needs the name"),
        ({"connector": "pulsar"}, "connector: .* choose 'files' or 'kafka'"),
        ({"connection": "main"}, "connection: .* leave it out"),
        ({"format": "avro"}, "format: .* file topic.* choose 'json'"),
        ({"format": "xml", **KAFKA}, "format: 'xml' .* choose 'json' or 'avro'"),
        ({"format": "csv"}, "format: 'csv' .* envelope 'debezium'; choose"),
        ({"format": "avro", "envelope": "canal", **KAFKA}, "format: .* 'canal'; choose 'json'"),
        ({"envelope": "none"}, "envelope: 'none' .* choose 'debezium'"),
        ({"envelope": "upsert"}, "envelope: .* choose connector 'kafka'"),
        ({"envelope": "append", "key": ("id",)}, "key: .* leave the key empty"),
        ({"key": ()}, "key: .* needs the columns"),
        ({"key": ("w",)}, "key: .*not a set of columns"),
        ({"key": ("v",), "metadata": {"v": "topic"}}, "key: .* record's contents"),
        ({"envelope": "append", "key": (), "replica_identity": "full"}, "replica_identity: "),
        ({"replica_identity": "index"}, "replica_identity: .* choose 'default' or 'full'"),
        ({"resolution": "hour"}, "resolution: .* choose 'batch'"),
        ({"resolution": "transaction", "envelope": "canal"}, "resolution: .* 'debezium'"),
        ({"replica_identity": "full", "metadata": {"v": "topic"}}, "metadata: .* 'default'"),
        ({"metadata": {"w": "topic"}}, "metadata: 'w' is not a column"),
        ({"metadata": {"v": "leader"}}, "metadata: 'leader' is unknown; choose"),
        ({"metadata": {"v": "key"}}, "metadata: .* file topics have no key"),
        ({**AT, "metadata": {"at": "topic"}}, "metadata: 'at' takes 'topic'.* string"),
        ({"start": "latest"}, "start: .* 'earliest'"),
        ({**KAFKA, "start": "now"}, "start: 'now' is none of"),
        ({**KAFKA, "start": {"timestamp": -1}}, "start: "),
        ({**KAFKA, "start": {"offsets": {}}}, "start: "),
        ({**KAFKA, "start": {"offsets": {"x": 1}}}, "start: "),
        ({**KAFKA, "start": {"offsets": {0: True}}}, "start: "),
        ({"encodings": {"v": "ms"}}, "encodings: 'v' .* one encoding only"),
        ({"encodings": {"w": "ms"}}, "encodings: 'w' is not a column"),
        (
            {"columns": {"id": pa.int64(), "d": pa.decimal128(4, 2)}, "encodings": {"d": "ms"}},
            "encodings: 'ms' .* choose 'base64'",
        ),
        ({"envelope": "canal", "encodings": {"v": "ms"}}, "encodings: there is no choice"),
        ({"envelope": "append", "key": (), "format": "bytes"}, "columns: .* one column"),
        ({"envelope": "append", "key": (), "format": "csv", "csv": Csv("")}, "csv.delimiter: "),
        ({"envelope": "append", "key": (), "format": "csv", "csv": Csv('"')}, "csv.quote: "),
        ({"on_error": "skip"}, "on_error: .* choose 'stall' or 'quarantine'"),
    ],
)
def test_a_wrong_combination_is_refused_with_the_field_and_a_way_out(
    fields: dict[str, Any], named: str
) -> None:
    with pytest.raises(InvalidTable, match=named):
        spec(**fields)
