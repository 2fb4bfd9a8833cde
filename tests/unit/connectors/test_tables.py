"""Declarations of tables are checked, and travel as JSON."""

import orjson
import pyarrow as pa
import pytest

from connectors.errors import InvalidTable
from connectors.tables import TableSpec, type_name, type_of
from ivm.types import INTERVAL, JSON, UUID

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
    pa.timestamp("us", "Europe/Berlin"),
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
