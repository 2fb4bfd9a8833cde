"""Values written in URLs, by column type."""

import math
import uuid
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from api.errors import BadParameter
from api.values import parse
from ivm.values.types import INTERVAL, JSON, UUID, Interval, interval_constant


@pytest.mark.parametrize(
    ("text", "dtype", "value"),
    [
        ("7", pa.int8(), 7),
        ("a b", pa.string(), "a b"),
        ("", pa.string(), ""),
        ("true", pa.bool_(), True),
        ("1.5", pa.float64(), 1.5),
        ("18446744073709551615", pa.uint64(), 2**64 - 1),
        ("-Infinity", pa.float64(), -math.inf),
        ("1e308", pa.float64(), 1e308),
        ("1152921504606847000", pa.float64(), 2.0**60),
        ("0.1", pa.float32(), 0.10000000149011612),
        ("1.50", pa.decimal128(12, 2), Decimal("1.50")),
        ("2024-02-29", pa.date32(), date(2024, 2, 29)),
        ("23:59:59.000001", pa.time64("us"), time(23, 59, 59, 1)),
        ("2024-01-01T00:00:00", pa.timestamp("us"), datetime(2024, 1, 1)),
        ("2024-01-01T02:00:00+02:00", pa.timestamp("us", "UTC"), datetime(2024, 1, 1, tzinfo=UTC)),
        ("AP8=", pa.binary(), b"\x00\xff"),
        ("A0EEBC999C0B4EF8BB6D6BB9BD380A11", UUID, uuid.UUID("a0eebc999c0b4ef8bb6d6bb9bd380a11")),
        ('{"b":1,"a":2}', JSON, '{"a": 2, "b": 1}'),
        ("1 day 02:00", INTERVAL, interval_constant(Interval(0, 1, 7_200_000_000))),
        ('["1.50",null]', pa.list_(pa.decimal128(12, 2)), [Decimal("1.50"), None]),
        ("1.5e1", pa.decimal128(12, 2), Decimal("15.00")),
        (
            '["a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"]',
            pa.list_(UUID),
            [uuid.UUID("a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11")],
        ),
    ],
)
def test_a_text_is_read_as_its_column_says(text: str, dtype: pa.DataType, value: Any) -> None:
    assert parse(text, pa.field("c", dtype)) == value


@pytest.mark.parametrize(
    ("text", "dtype"),
    [
        ("128", pa.int8()),
        ("1.0", pa.int64()),
        ("1_0", pa.int64()),
        ("\uff11", pa.int64()),
        ("true", pa.int64()),
        ("", pa.int64()),
        ("null", pa.int64()),
        ("18446744073709551616", pa.uint64()),
        ("1_0", pa.float64()),
        ("1e999", pa.float64()),
        ("1e300", pa.float32()),
        ("1", pa.bool_()),
        ("10:00:00Z", pa.time64("us")),
        ("null", pa.list_(pa.int8())),
        ("yes", pa.bool_()),
        ("1.234", pa.decimal128(12, 2)),
        ("1e", pa.decimal128(12, 2)),
        ("1e-1000000000", pa.decimal128(12, 2)),
        ("9" * 39, pa.decimal128(38, 0)),
        ("[" * 2_000 + "]" * 2_000, JSON),
        ("2024-02-30", pa.date32()),
        ("2024-01-01T00:00:00Z", pa.timestamp("us")),
        ("2024-01-01T00:00:00", pa.timestamp("us", "UTC")),
        ("*", pa.binary()),
        ("a0eebc99", UUID),
        ("{", JSON),
        ("1 parsec", INTERVAL),
        ("[1", pa.list_(pa.int8())),
        ("1", pa.list_(pa.int8())),
        ("[128]", pa.list_(pa.int8())),
    ],
)
def test_what_the_column_cannot_hold_is_refused_by_name(text: str, dtype: pa.DataType) -> None:
    with pytest.raises(BadParameter, match="'c'"):
        parse(text, pa.field("c", dtype))
