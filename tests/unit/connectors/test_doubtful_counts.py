"""A count of time without a unit is refused where it would be in 1970 as microseconds alone."""

from typing import Any

import orjson
import pyarrow as pa
import pytest

from connectors.decode import decode
from connectors.records import Decoded, Records
from tests.unit.connectors.test_writer_types import CONNECT, connect, value_of
from tests.unit.connectors.writers import kafka

ID: pa.Field = pa.field("id", pa.int64(), nullable=False)
NAIVE, UTC = pa.timestamp("us"), pa.timestamp("us", "UTC")
# 2023-11-14 in milliseconds, and in seconds.
MILLIS, SECONDS = 1_700_000_000_000, 1_700_000_000


def run(dtype: pa.DataType, value: Any, **fields: Any) -> Decoded:
    spec = kafka(pa.schema([ID, pa.field("v", dtype)]), **({"envelope": "flat"} | fields))
    content = orjson.dumps({"id": 1, "v": value})
    return decode(Records([content], [0], keys=[b'{"id":1}']), spec)


@pytest.mark.parametrize("envelope", ["flat", "upsert", "append"])
@pytest.mark.parametrize("dtype", [NAIVE, UTC], ids=str)
@pytest.mark.parametrize("count", [MILLIS, SECONDS, -MILLIS, 100_000_000, 7_258_118_399_999])
def test_a_count_that_may_be_of_another_unit_is_refused(
    envelope: str, dtype: pa.DataType, count: int
) -> None:
    key = () if envelope == "append" else ("id",)
    (rejected,) = run(dtype, count, envelope=envelope, key=key).rejected
    assert rejected.reason == "out-of-range"
    assert "'encodings'" in rejected.message


def test_the_moments_that_it_may_be_are_told() -> None:
    (rejected,) = run(NAIVE, MILLIS).rejected
    assert "1970-01-20 in microseconds, 2023-11-14 in milliseconds:" in rejected.message
    (rejected,) = run(NAIVE, SECONDS).rejected
    assert "2023-11-14 in seconds" in rejected.message


@pytest.mark.parametrize("count", [0, 1, -1, MILLIS * 1000, -MILLIS * 1000, 99_999_999])
def test_a_count_that_is_of_no_other_unit_is_microseconds(count: int) -> None:
    decoded = run(NAIVE, count)
    assert decoded.rows["v"].cast(pa.int64()).to_pylist() == [count]


@pytest.mark.parametrize(("unit", "factor"), [("us", 1), ("ms", 1000)])
def test_what_the_table_says_is_not_doubted(unit: str, factor: int) -> None:
    decoded = run(NAIVE, MILLIS, encodings={"v": unit})
    assert decoded.rows["v"].cast(pa.int64()).to_pylist() == [MILLIS * factor]


def test_what_a_schema_says_is_not_doubted() -> None:
    node = {"type": "int64", "name": "io.debezium.time.MicroTimestamp"}
    assert str(value_of(connect(node, MILLIS, NAIVE))).startswith("1970-01-20")
    node = {"type": "int64", "name": CONNECT + "Timestamp"}
    assert str(value_of(connect(node, MILLIS, NAIVE))).startswith("2023-11-14")


def test_counts_in_a_list_have_the_unit_of_its_column() -> None:
    assert [r.reason for r in run(pa.list_(NAIVE), [None, MILLIS]).rejected] == ["out-of-range"]
    found: Any = run(pa.list_(NAIVE), [MILLIS], encodings={"v": "ms"}).rows["v"][0].as_py()
    assert [str(moment) for moment in found] == ["2023-11-14 22:13:20"]


def test_texts_are_of_their_own_moment() -> None:
    assert run(NAIVE, "1970-01-20T16:13:20").rejected == ()


def test_the_timestamp_of_a_record_is_not_doubted() -> None:
    spec = kafka(
        pa.schema([pa.field("at", NAIVE)]), (), envelope="append", metadata={"at": "timestamp"}
    )
    decoded = decode(Records([b"{}"], [0], timestamps=[SECONDS // 1000]), spec)
    assert decoded.rows["at"].cast(pa.int64()).to_pylist() == [SECONDS // 1000 * 1000]
