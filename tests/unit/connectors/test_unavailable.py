"""A placeholder stands for a value that was not logged: where it can, and only as a whole."""

from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.declaration import UNAVAILABLE
from connectors.decode import decode
from connectors.errors import InvalidTable
from connectors.records import Decoded, Records
from connectors.tables.spec import TableSpec
from ivm.values.types import JSON
from tests.unit.connectors.writers import kafka

ID: pa.Field = pa.field("id", pa.int64(), nullable=False)
TEXTS = pa.list_(pa.string())
WITHOUT: dict[str, tuple[dict[str, Any], Any]] = {
    "upsert": ({"envelope": "upsert"}, lambda row: row),
    "append": ({"envelope": "append", "key": ()}, lambda row: row),
    "maxwell": ({"envelope": "maxwell"}, lambda row: {"type": "insert", "data": row}),
    "canal": ({"envelope": "canal"}, lambda row: {"type": "INSERT", "data": [row]}),
}


def table(dtype: pa.DataType, **fields: Any) -> TableSpec:
    return kafka(pa.schema([ID, pa.field("v", dtype)]), **fields)


def run(spec: TableSpec, *values: Any) -> Decoded:
    keys = [b'{"id": 1}'] * len(values)
    return decode(Records(list(map(orjson.dumps, values)), range(len(values)), keys=keys), spec)


def updated(value: Any, before: Any = None) -> dict[str, Any]:
    return {"op": "u", "before": before, "after": {"id": 1, "v": value}}


@pytest.mark.parametrize(("fields", "record"), WITHOUT.values(), ids=WITHOUT)
@pytest.mark.parametrize("text", [UNAVAILABLE, UNAVAILABLE.encode().hex()])
def test_in_an_envelope_without_placeholders_it_is_a_text(
    fields: dict[str, Any], record: Any, text: str
) -> None:
    identity = "1" if fields["envelope"] == "canal" else 1
    decoded = run(table(pa.string(), **fields), record({"id": identity, "v": text}))
    assert decoded.rejected == ()
    assert decoded.missing is None
    assert decoded.rows["v"].to_pylist() == [text]


def test_csv_has_no_placeholder() -> None:
    spec = table(TEXTS, key=(), envelope="append", format="csv")
    line = f'1,"[""{UNAVAILABLE}""]"'.encode()
    assert decode(Records([line], [0]), spec).rows["v"].to_pylist() == [[UNAVAILABLE]]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (TEXTS, ["a", UNAVAILABLE]),
        (TEXTS, [UNAVAILABLE, UNAVAILABLE]),
        (TEXTS, [UNAVAILABLE, None]),
        (pa.list_(TEXTS), [[UNAVAILABLE]]),
        (pa.string(), f"{UNAVAILABLE}."),
        (pa.string(), f"of {UNAVAILABLE}"),
        (pa.list_(pa.int32()), [1, *UNAVAILABLE.encode()]),
    ],
    ids=str,
)
@pytest.mark.parametrize("identity", ["default", "full"])
def test_it_is_a_value_among_others(dtype: pa.DataType, value: Any, identity: str) -> None:
    before = {"id": 1, "v": None}
    decoded = run(table(dtype, replica_identity=identity), updated(value, before))
    assert decoded.rejected == ()
    assert decoded.missing is None
    assert decoded.rows["v"].to_pylist()[-1] == value


def test_it_is_a_value_in_a_document() -> None:
    decoded = run(table(JSON), updated({"note": UNAVAILABLE}), updated([1, UNAVAILABLE]))
    assert decoded.missing is None
    assert decoded.rows["v"].to_pylist() == [
        f'{{"note": "{UNAVAILABLE}"}}',
        f'[1, "{UNAVAILABLE}"]',
    ]


@pytest.mark.parametrize("envelope", ["debezium", "flat"])
@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (JSON, UNAVAILABLE),
        (JSON, {UNAVAILABLE: UNAVAILABLE}),
        (TEXTS, [UNAVAILABLE]),
        (pa.decimal128(9, 2), UNAVAILABLE),
        (pa.int64(), UNAVAILABLE),
    ],
    ids=str,
)
def test_alone_it_stands_for_a_value_of_any_column(
    envelope: str, dtype: pa.DataType, value: Any
) -> None:
    row = {"id": 1, "v": value}
    spec = table(dtype, envelope=envelope)
    decoded = run(spec, updated(value) if envelope == "debezium" else row)
    assert decoded.rejected == ()
    assert decoded.missing == [(1,)]


def test_a_key_is_never_unlogged() -> None:
    spec = kafka(pa.schema([pa.field("v", pa.string(), False), ID]), ("v",))
    decoded = run(spec, updated("a"), updated(UNAVAILABLE), updated("b"))
    assert [(r.offset, r.reason) for r in decoded.rejected] == [(1, "unavailable-value")]
    assert decoded.rows["v"].to_pylist() == ["a", "b"]


OTHER = "not there"


@pytest.mark.parametrize(
    ("option", "dtype", "value"),
    [
        (OTHER, pa.string(), OTHER),
        (OTHER, pa.binary(), "bm90IHRoZXJl"),
        (OTHER, TEXTS, [OTHER]),
        (OTHER, JSON, {OTHER: OTHER}),
        ("hex:00ff", pa.binary(), "AP8="),
        ("hex:00ff", pa.string(), "00ff"),
        ("hex:6e6f74207468657265", pa.string(), OTHER),
    ],
)
def test_a_connector_may_have_another_placeholder(
    option: str, dtype: pa.DataType, value: Any
) -> None:
    spec = table(dtype, unavailable_value_placeholder=option)
    assert run(spec, updated(value)).missing == [(1,)]
    assert TableSpec.from_json(spec.to_json()) == spec


def test_then_debezium_s_own_is_a_text() -> None:
    spec = table(pa.string(), unavailable_value_placeholder=OTHER)
    decoded = run(spec, updated(UNAVAILABLE))
    assert decoded.missing is None
    assert decoded.rows["v"].to_pylist() == [UNAVAILABLE]


@pytest.mark.parametrize("option", ["", "hex:", "hex:0", "hex:xy"])
def test_a_placeholder_is_a_text_or_bytes(option: str) -> None:
    with pytest.raises(InvalidTable, match="unavailable_value_placeholder"):
        table(pa.string(), unavailable_value_placeholder=option)


@pytest.mark.parametrize("envelope", ["upsert", "maxwell", "canal"])
def test_a_placeholder_is_refused_where_there_is_none(envelope: str) -> None:
    with pytest.raises(InvalidTable, match="'debezium' or 'flat'"):
        table(pa.string(), envelope=envelope, unavailable_value_placeholder=OTHER)
