"""Column types and their SQL names."""

import pyarrow as pa
import pytest

from ivm.values.types import INTERVAL, JSON, NUMERIC, UUID
from views.errors import BadDefinition
from views.types import parse_type, type_name

TYPES = [
    pa.bool_(),
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
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
    pa.list_(pa.list_(pa.decimal128(12, 2))),
]


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_a_type_is_read_back_from_its_name(kind: pa.DataType) -> None:
    assert parse_type(type_name(kind)) == kind


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("INT", pa.int32()),
        ("numeric", NUMERIC),
        ("decimal(5)", pa.decimal128(5, 0)),
        ("Timestamp  With Time Zone", pa.timestamp("us", "UTC")),
        ("varchar", pa.string()),
        ("character varying(10)", pa.string()),
        ("timestamp(3) without time zone", pa.timestamp("us")),
        ("timestamptz (0)", pa.timestamp("us", "UTC")),
        ("time(6)", pa.time64("us")),
        ("INT[]", pa.list_(pa.int32())),
        ("numeric(4, 1) []", pa.list_(pa.decimal128(4, 1))),
    ],
)
def test_synonyms_and_case_do_not_matter(text: str, kind: pa.DataType) -> None:
    assert parse_type(text) == kind


@pytest.mark.parametrize(
    "text", ["", "xml", "char(3)", "bit(2)", "numeric(", "numeric(39, 2)", "numeric(4, 5)", "[]"]
)
def test_other_names_are_refused(text: str) -> None:
    with pytest.raises(BadDefinition):
        parse_type(text)


def test_a_type_without_a_name_is_refused() -> None:
    with pytest.raises(BadDefinition, match="struct"):
        type_name(pa.struct([("a", pa.int8())]))
