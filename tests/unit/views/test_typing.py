"""The types that expressions and aggregates have."""

import pyarrow as pa
import pytest

from views.catalog import Catalog, Table
from views.compile import compile_view

COLUMNS: dict[str, pa.DataType] = {
    "t8": pa.int8(),
    "i2": pa.int16(),
    "i4": pa.int32(),
    "i8": pa.int64(),
    "u4": pa.uint32(),
    "f4": pa.float32(),
    "f8": pa.float64(),
    "d2": pa.decimal128(12, 2),
    "d4": pa.decimal128(10, 4),
    "s": pa.string(),
    "b": pa.bool_(),
    "day": pa.date32(),
    "ts": pa.timestamp("us"),
    "tz": pa.timestamp("us", "UTC"),
}
CATALOG = Catalog([Table("t", pa.schema(list(COLUMNS.items())), ("i8",))])


def decimal(scale: int) -> pa.DataType:
    return pa.decimal128(38, scale)


TYPES: list[tuple[str, pa.DataType]] = [
    ("1", pa.int32()),
    ("3000000000", pa.int64()),
    ("1.50", pa.decimal128(3, 2)),
    ("i2 + i4", pa.int32()),
    ("t8 + t8", pa.int16()),
    ("u4 + i4", pa.int64()),
    ("i8 / i4", pa.int64()),
    ("f4 * f4", pa.float32()),
    ("f4 * i4", pa.float64()),
    ("d2 + d4", decimal(4)),
    ("d2 - 1", decimal(2)),
    ("d2 * d4", decimal(6)),
    ("d2 * i4", decimal(2)),
    ("d2 / d4", decimal(20)),
    ("d2 % d4", decimal(4)),
    ("d2 * f8", pa.float64()),
    ("-d2", pa.decimal128(12, 2)),
    ("day + 1", pa.date32()),
    ("day - day", pa.int32()),
    ("day + interval '1 day'", pa.timestamp("us")),
    ("tz - interval '1 hour'", pa.timestamp("us", "UTC")),
    ("extract(year from ts)", pa.decimal128(19, 0)),
    ("date_part('year', ts)", pa.float64()),
    ("extract(epoch from ts - ts)", decimal(6)),
    ("date_trunc('month', tz)", pa.timestamp("us", "UTC")),
    ("coalesce(i4, i8)", pa.int64()),
    ("case when b then d2 else 1 end", pa.decimal128(12, 2)),
    ("nullif(i4, 0)", pa.int32()),
    ("greatest(d2, d4)", pa.decimal128(14, 4)),
    ("s || i4", pa.string()),
    ("length(s)", pa.int32()),
    ("round(d4, 1)", decimal(1)),
    ("floor(d2)", decimal(0)),
    ("i4 = i8 or s is null", pa.bool_()),
    ("ts < '2024-01-01'", pa.bool_()),
    ("sum(i4)", pa.int64()),
    ("sum(i8)", decimal(0)),
    ("sum(d2)", decimal(2)),
    ("sum(f4)", pa.float32()),
    ("avg(i4)", decimal(20)),
    ("avg(d2)", decimal(20)),
    ("avg(f4)", pa.float64()),
    ("count(s)", pa.int64()),
    ("max(day)", pa.date32()),
    ("min(t8)", pa.int8()),
    ("bool_and(b)", pa.bool_()),
]


@pytest.mark.parametrize(("expression", "kind"), TYPES, ids=[e for e, _ in TYPES])
def test_an_expression_has_the_type_of_postgresql(expression: str, kind: pa.DataType) -> None:
    schema = compile_view(f"select {expression} as x from t", CATALOG).schema
    assert schema.field("x").type == kind


@pytest.mark.parametrize(
    ("expression", "nullable"),
    [
        ("i8", False),
        ("i8 + 1", False),
        ("i4 + 1", True),
        ("i4 is null", False),
        ("coalesce(i4, 0)", False),
        ("nullif(i8, 1)", True),
        ("case when b then 1 end", True),
        ("case when b then 1 else 2 end", False),
        ("count(*)", False),
        ("sum(i8)", True),
        ("exists (select 1 from t)", False),
        ("(select max(i8) from t)", True),
    ],
)
def test_a_column_is_nullable_where_it_can_be_null(expression: str, nullable: bool) -> None:
    table = Table(
        "t", CATALOG["t"].schema.set(3, pa.field("i8", pa.int64(), nullable=False)), ("i8",)
    )
    schema = compile_view(f"select {expression} as x from t", Catalog([table])).schema
    assert schema.field("x").nullable is nullable
