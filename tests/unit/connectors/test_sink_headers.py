"""Columns of a view as headers of its messages, in each envelope."""

import uuid
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any, Literal, cast

import numpy as np
import pyarrow as pa
import pytest

from connectors.errors import InvalidSink
from connectors.offsets import Offsets
from connectors.sinks.encoding import JsonEncoding
from connectors.sinks.envelopes import Envelope, Messages
from connectors.sinks.headers import row_headers
from connectors.sinks.sink import Output, Reached
from connectors.sinks.target import KafkaTarget, OutputEnvelope
from ivm.results import Deltas
from ivm.values.types import JSON, UUID
from tests.faults.publishing import SCHEMA, Row, drained

REACHED = Reached(5, 1_000_000, Offsets())


@pytest.mark.parametrize(
    ("dtype", "value", "found"),
    [
        (pa.string(), 'a "quoted" word', b'a "quoted" word'),
        (pa.string(), '"', b'"'),
        (pa.string(), "naïve", "naïve".encode()),
        (pa.binary(), b'"\x00\xff', b'"\x00\xff'),
        (JSON, '{"a":1}', b'{"a":1}'),
        (pa.int64(), -12, b"-12"),
        (pa.uint64(), 2**64 - 1, b"18446744073709551615"),
        (pa.bool_(), True, b"true"),
        (pa.float64(), 1.5, b"1.5"),
        (pa.float64(), float("nan"), b"NaN"),
        (pa.decimal128(12, 2), Decimal("1.50"), b"1.50"),
        (pa.date32(), date(2024, 1, 31), b"2024-01-31"),
        (pa.time64("us"), time(1, 2, 3), b"01:02:03.000000"),
        (pa.timestamp("us", "UTC"), datetime(2024, 1, 31, tzinfo=UTC), b"2024-01-31T00:00:00"),
        (UUID, uuid.UUID(int=1), b"00000000-0000-0000-0000-000000000001"),
        (pa.list_(pa.string()), ["a"], b'["a"]'),
    ],
    ids=str,
)
def test_a_value_is_its_bytes_or_its_json_text_without_quotes(
    dtype: pa.DataType, value: Any, found: bytes
) -> None:
    column = _column(dtype, [value, None])
    [[(_, content)], [(_, absent)]] = row_headers(pa.record_batch([column], ["c"]))
    assert content is not None
    assert content.startswith(found)
    assert b'"' not in content or b'"' in found
    assert absent is None


def _column(dtype: pa.DataType, values: list[Any]) -> pa.Array:
    if isinstance(dtype, pa.ExtensionType):
        values = [value.bytes if isinstance(value, uuid.UUID) else value for value in values]
        storage = pa.array(values, cast(Any, dtype).storage_type)
        return pa.ExtensionArray.from_storage(dtype, storage)
    return pa.array(values, dtype)


def made(
    envelope: OutputEnvelope, changes: list[tuple[Row, int]], *headers: str, is_unique: bool = True
) -> Messages:
    """The messages of changes at time 5."""
    target = KafkaTarget("main", "topic", envelope, headers=headers)
    view = Output("v", SCHEMA, ("id",), is_unique, "plan", target)
    making = Envelope("ivm", view, JsonEncoding(), 3)
    messages = making.messages(drained(5, changes), REACHED, False)
    messages.extend(making.frontiers(REACHED))
    return messages


def told(messages: Messages) -> list[tuple[bool, dict[str, bytes | None]]]:
    """Whether a message has a value, and its headers, for each."""
    return [(v is not None, dict(messages.headers_of(i))) for i, v in enumerate(messages.values)]


def test_each_delta_has_the_columns_of_its_row_and_a_frontier_has_none() -> None:
    messages = made("delta", [((1, "a"), -1), ((1, "b"), 1)], "name", "id")
    rows = [{"name": b"a", "id": b"1"}, {"name": b"b", "id": b"1"}]
    assert [headers for _, headers in told(messages)] == [*rows, {}, {}, {}]


def test_an_upsert_has_those_of_the_row_that_is_there_and_a_tombstone_those_of_the_last() -> None:
    changes = [((1, "a"), -1), ((1, "b"), 1), ((2, "c"), -1)]
    found = [(True, {"name": b"b"}), (False, {"name": b"c"})]
    assert told(made("upsert", changes, "name")) == found


def test_the_tombstone_after_an_event_has_the_headers_of_the_event() -> None:
    changes = [((1, "a"), -1), ((1, "b"), 1), ((2, "c"), -1)]
    found = [(True, {"name": b"b"}), (True, {"name": b"c"}), (False, {"name": b"c"})]
    assert told(made("debezium", changes, "name")) == found


def test_a_row_that_could_not_be_computed_has_no_headers() -> None:
    target = KafkaTarget("main", "topic", headers=("name",))
    making = Envelope("ivm", Output("v", SCHEMA, ("id",), True, "p", target), JsonEncoding(), 3)
    one = drained(5, [((1, "a"), 1)])
    errors, at = pa.record_batch({"error": ["why"]}), np.array([5], np.uint64)
    changes = Deltas(one.rows, one.times, one.diffs, errors, at, np.array([1]))
    messages = making.messages(changes, REACHED, False)
    assert [headers for _, headers in told(messages)] == [{"name": b"a"}, {}]


def test_messages_without_headers_stay_so_beside_others() -> None:
    messages = made("delta", [((1, "a"), 1)])
    assert messages.headers == []
    messages.extend(made("delta", [((2, "b"), 1)], "name"))
    assert [headers for _, headers in told(messages)] == [{}] * 4 + [{"name": b"b"}] + [{}] * 3


@pytest.mark.parametrize("name", ["view", "life", "time", "sequence"])
def test_a_column_of_the_name_of_a_header_that_is_there_is_refused(name: str) -> None:
    with pytest.raises(InvalidSink, match=f"headers: '{name}': every message has one"):
        KafkaTarget("main", "topic", headers=(name,))


def test_a_column_is_named_once() -> None:
    with pytest.raises(InvalidSink, match="headers: 'a': it is there twice"):
        KafkaTarget("main", "topic", headers=("a", "b", "a"))


@pytest.mark.parametrize("envelope", ["delta", "upsert"])
def test_headers_are_columns_of_the_view(envelope: Literal["delta", "upsert"]) -> None:
    target = KafkaTarget("main", "topic", envelope, headers=("name", "nam"))
    with pytest.raises(InvalidSink, match="no column nam; its columns are id, name"):
        Output("v", SCHEMA, ("id",), True, "plan", target).check()


def test_a_target_is_the_same_after_json_and_without_the_member_has_no_headers() -> None:
    target = KafkaTarget("main", "topic", headers=("a",))
    members = target.to_json()
    assert members["headers"] == ["a"]
    assert KafkaTarget.from_json(members) == target
    del members["headers"]
    assert KafkaTarget.from_json(members) == KafkaTarget("main", "topic")
