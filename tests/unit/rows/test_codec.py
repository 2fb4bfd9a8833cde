"""Arrow batches as updates and back."""

import math
from collections.abc import Sequence
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ivm.errors import SchemaMismatch, Unsupported
from ivm.rows.codec import round_trip, words_of_key, words_of_rows
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.rows.shims import order_of
from ivm.values.types import INTERVAL, UUID
from tests.oracle.values import canonical, compare
from tests.unit.rows.values import (
    EXTENDED,
    LISTS,
    STRUCTS,
    TYPES,
    batch_of,
    columns,
    schema_of,
    values,
)

SIGN = 1 << 63
TEXT = pa.string()


def one_column(type_: pa.DataType, given_values: Sequence[object]) -> pa.RecordBatch:
    return batch_of(schema_of(("x", type_, True)), given_values)


def plain(value: object) -> object:
    """Equal for values that SQL takes to be equal."""
    if isinstance(value, list):
        return [plain(v) for v in value]
    if isinstance(value, dict):
        return {name: plain(v) for name, v in value.items()}
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    return value


@pytest.mark.parametrize("type_", [*TYPES, *EXTENDED, *LISTS, *STRUCTS], ids=str)
@given(data=st.data())
def test_a_column_survives_the_round_trip(type_: pa.DataType, data: st.DataObject) -> None:
    given_values = data.draw(columns(type_, 9))
    batch = one_column(type_, given_values)
    decoded = round_trip(batch, batch.schema, Interner())
    assert decoded.schema == batch.schema
    assert [plain(v) for v in decoded["x"].to_pylist()] == [
        plain(v) for v in batch["x"].to_pylist()
    ]
    decoded.validate(full=True)


@pytest.mark.parametrize("type_", [*TYPES, *EXTENDED, *LISTS, *STRUCTS], ids=str)
@given(data=st.data(), offset=st.integers(0, 12))
def test_a_slice_is_read_from_its_offset(
    type_: pa.DataType, data: st.DataObject, offset: int
) -> None:
    batch = one_column(type_, data.draw(columns(type_, 19))).slice(offset, 7)
    decoded = round_trip(batch, batch.schema, Interner())
    assert [plain(v) for v in decoded["x"].to_pylist()] == [
        plain(v) for v in batch["x"].to_pylist()
    ]


@pytest.mark.parametrize(
    "type_", [t for t in TYPES if t not in (pa.string(), pa.binary())], ids=str
)
@given(data=st.data())
def test_words_order_as_values_do(type_: pa.DataType, data: st.DataObject) -> None:
    a, b = (data.draw(values(type_)) for _ in range(2))
    schema = pa.schema([pa.field("x", type_, False)])
    first, second = (words_of_key([v], schema, Interner()) for v in (a, b))
    assert (first > second) - (first < second) == order(a, b)


def order(a: Any, b: Any) -> int:
    """NaN is equal to itself and greater than all numbers."""
    if isinstance(a, float) and (math.isnan(a) or math.isnan(b)):
        return math.isnan(a) - math.isnan(b)
    return int(a > b) - int(a < b)


@given(data=st.data())
def test_uuids_order_as_their_bytes(data: st.DataObject) -> None:
    a, b = (data.draw(st.uuids()) for _ in range(2))
    first, second = (words_of_key([v], schema_of(("x", UUID, False)), Interner()) for v in (a, b))
    assert (first < second) == (a.bytes < b.bytes)


def parts(value: tuple[int, ...]) -> tuple[int, int, int]:
    """The span and what decides between equal ones, of an interval as Arrow has it."""
    months, days, nanos = value
    return (months * 30 + days) * 86_400_000_000 + nanos // 1000, months, days


@given(data=st.data())
def test_intervals_order_by_their_span(data: st.DataObject) -> None:
    interner, schema = Interner(), schema_of(("x", INTERVAL, False))
    a, b = (data.draw(values(INTERVAL)) for _ in range(2))
    (first,), (second,) = (words_of_key([v], schema, interner) for v in (a, b))
    order = order_of(interner, first, second)
    assert (order > 0) - (order < 0) == (parts(a) > parts(b)) - (parts(a) < parts(b))


def test_a_batch_of_many_blocks_survives_the_round_trip() -> None:
    count = 5000
    batch = batch_of(
        schema_of(("i", pa.int64(), True), ("s", TEXT, True), ("d", pa.decimal128(20, 2), True)),
        range(count),
        [None if i % 7 == 0 else f"text number {i % 900}" for i in range(count)],
        [Decimal(i) / 4 for i in range(count)],
    )
    assert round_trip(batch, batch.schema, Interner()) == batch


def test_an_update_has_the_mask_the_columns_the_time_and_the_diff() -> None:
    schema = schema_of(("a", pa.int64(), True), ("b", TEXT, False))
    batch = batch_of(schema, [5, None], ["ab", ""])
    times, diffs = np.array([3, 4], np.uint64), np.array([1, -1], np.int64)
    words = words_of_rows(batch, schema, Interner(), times, diffs)
    text = int.from_bytes(b"ab\0\0\0\0\0\x02", "big")
    assert words == [[0, SIGN + 5, text, 3, 1], [1, 0, 0, 4, (1 << 64) - 1]]


def test_a_schema_without_nulls_has_no_mask() -> None:
    layout = Layout(schema_of(("a", pa.int64(), False), ("b", pa.decimal128(9, 2), False)))
    assert (layout.words, layout.masks) == (3, 0)


def test_long_strings_are_ordered_by_the_interner() -> None:
    interner = Interner()
    schema = pa.schema([pa.field("s", pa.string(), False)])
    (a,), (b,) = (words_of_key([f"the same start {c}"], schema, interner) for c in "ab")
    assert order_of(interner, a, b) < 0 < order_of(interner, b, a)


def test_dictionaries_and_large_strings_are_taken_as_strings() -> None:
    schema = pa.schema([pa.field("x", pa.string())])
    for array in (
        pa.array(["b", None, "a longer text"]).dictionary_encode(),
        pa.array(["b", None, "a longer text"], pa.large_string()),
    ):
        batch = pa.RecordBatch.from_arrays([array], names=["x"])
        decoded = round_trip(batch, schema, Interner())
        assert decoded["x"].to_pylist() == ["b", None, "a longer text"]


@pytest.mark.parametrize(
    ("batch", "complaint"),
    [
        (one_column(pa.int32(), [1]), "column 'x' is int64, not int32"),
        (one_column(pa.int64(), [None]), "column 'x' has a NULL"),
        (one_column(pa.int64(), [1]).rename_columns(["y"]), "column 'y'"),
        (pa.RecordBatch.from_pydict({"x": [1], "y": [2]}), "2 columns"),
    ],
)
def test_a_batch_that_does_not_fit_is_refused(batch: pa.RecordBatch, complaint: str) -> None:
    with pytest.raises(SchemaMismatch, match=complaint):
        round_trip(batch, pa.schema([pa.field("x", pa.int64(), False)]), Interner())


@pytest.mark.parametrize(
    ("value", "type_"),
    [("five", pa.int64()), (5, pa.string()), (300, pa.int8()), (None, pa.int8())],
)
def test_a_key_value_that_does_not_fit_is_refused(value: object, type_: pa.DataType) -> None:
    with pytest.raises(SchemaMismatch, match="x"):
        words_of_key([value], pa.schema([pa.field("x", type_, False)]), Interner())


def test_too_many_columns_with_nulls_are_refused() -> None:
    with pytest.raises(Unsupported):
        Layout(pa.schema([pa.field(f"c{i}", pa.int64()) for i in range(2_000)]))


def test_a_type_without_words_is_refused() -> None:
    for type_ in (pa.map_(pa.string(), pa.int64()), pa.struct([("a", pa.float16())])):
        with pytest.raises(Unsupported, match=r"type (map|halffloat)"):
            Layout(pa.schema([pa.field("x", type_)]))


def test_a_struct_without_fields_or_with_too_many_is_refused() -> None:
    with pytest.raises(Unsupported, match="struct<>"):
        Layout(pa.schema([pa.field("x", pa.struct([]))]))
    many = pa.struct([(f"c{i}", pa.int64()) for i in range(2_000)])
    with pytest.raises(Unsupported, match="2,032 words"):
        Layout(pa.schema([pa.field("x", many)]))


def test_a_struct_of_many_fields_keeps_which_are_null() -> None:
    kind = pa.struct([(f"c{i}", pa.int64()) for i in range(200)])
    structs = [{f"c{i}": None if (i + j) % 3 else i for i in range(200)} for j in range(4)]
    batch = pa.record_batch({"x": pa.array([*structs, None], kind)})
    assert round_trip(batch, batch.schema, Interner()).column("x").to_pylist() == [*structs, None]


def test_rows_without_columns_keep_their_number() -> None:
    table = pa.table({"x": [1, 2, 3]}).select([])
    (batch,) = table.to_batches()
    assert round_trip(batch, pa.schema([]), Interner()).num_rows == 3


def test_a_column_outlives_the_batch_that_it_came_in() -> None:
    texts = [f"the text of number {i}" for i in range(1_000)]
    given = pa.record_batch({"x": pa.array(range(1_000)), "text": texts})
    column = round_trip(given, given.schema, Interner()).column("text").slice(500)
    for _ in range(10):  # what is given back would be taken and written again
        round_trip(given, given.schema, Interner())
    assert column.to_pylist() == texts[500:]


def test_a_timestamp_keeps_its_zone() -> None:
    batch = one_column(pa.timestamp("us", tz="Europe/Paris"), [datetime(2024, 7, 1, 12)])
    assert round_trip(batch, batch.schema, Interner()) == batch


@pytest.mark.parametrize("field", [pa.int64(), pa.float64(), pa.string()], ids=str)
@given(data=st.data())
def test_structs_order_by_one_field_after_another_with_null_greatest(
    field: pa.DataType, data: st.DataObject
) -> None:
    type_, interner = pa.struct([("a", field), ("b", field)]), Interner()
    a, b = (data.draw(values(type_)) for _ in range(2))
    words = [words_of_key([each], schema_of(("x", type_, False)), interner)[0] for each in (a, b)]
    truth = compare(*(canonical((each["a"], each["b"])) for each in (a, b)))
    order = order_of(interner, *words)
    assert (order > 0) - (order < 0) == truth


@pytest.mark.parametrize("element", [pa.int64(), pa.float64(), pa.string()], ids=str)
@given(data=st.data())
def test_lists_order_by_their_elements_with_null_greatest(
    element: pa.DataType, data: st.DataObject
) -> None:
    type_, interner = pa.list_(element), Interner()
    a, b = (data.draw(values(type_)) for _ in range(2))
    words = [words_of_key([each], schema_of(("x", type_, False)), interner)[0] for each in (a, b)]
    truth = compare(canonical(a), canonical(b))
    order = order_of(interner, *words)
    assert (order > 0) - (order < 0) == truth
