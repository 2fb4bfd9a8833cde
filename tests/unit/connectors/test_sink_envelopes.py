"""Messages of a view's topic: three envelopes, in JSON and in Avro."""

import io
from typing import Any, Literal

import fastavro
import numpy as np
import orjson
import pyarrow as pa
import pytest

from connectors.errors import KeyNotUnique
from connectors.offsets import Offsets
from connectors.sinks.avro import AvroEncoding
from connectors.sinks.encoding import Encoding, JsonEncoding
from connectors.sinks.envelopes import Envelope, Messages
from connectors.sinks.sink import Output, Reached
from connectors.sinks.target import KafkaTarget
from tests.faults.publishing import SCHEMA, Drained, Row, drained

REACHED = Reached(5, 1_000_000, Offsets.of_source("i", "input", {0: 9, 1: 3}))


class Schemas:
    """A registry in memory."""

    def __init__(self) -> None:
        self.ids: dict[str, int] = {}
        self.parsed: dict[int, Any] = {}

    def register(self, subject: str, schema: str) -> int:
        identity = 100 + len(self.ids)
        self.ids[subject] = identity
        self.parsed[identity] = fastavro.parse_schema(orjson.loads(schema))
        return identity

    def read(self, data: bytes | None) -> Any:
        if data is None:
            return None
        assert data[0] == 0
        stream = io.BytesIO(data[5:])
        schema = self.parsed[int.from_bytes(data[1:5], "big")]
        found = fastavro.schemaless_reader(stream, schema, None)
        assert not stream.read()
        return found


def read_json(data: bytes | None) -> Any:
    return data and orjson.loads(data)


Made = tuple[list[tuple[Any, Any]], list[int], list[int]]


def made(
    format: Literal["json", "avro"],
    envelope: Literal["delta", "upsert", "debezium"],
    changes: Drained,
    *,
    is_unique: bool = True,
    is_snapshot: bool = False,
    frontiers: bool = False,
) -> Made:
    """(key, value) of every message, their times, their partitions."""
    target = KafkaTarget("main", "topic", envelope, format)
    view = Output("v", SCHEMA, ("id",), is_unique, "plan", target)
    schemas = Schemas()
    encoding: Encoding = JsonEncoding()
    if format == "avro":
        encoding = AvroEncoding(view, "topic", envelope, schemas)
        assert list(schemas.ids) == ["topic-key", "topic-value"]
    making = Envelope("ivm", view, encoding, 3)
    if frontiers:
        messages = making.frontiers(REACHED)
    else:
        messages = making.messages(changes, REACHED, is_snapshot)
    return _decoded(messages, schemas if format == "avro" else None)


def _decoded(messages: Messages, schemas: Schemas | None) -> Made:
    read = schemas.read if schemas else read_json
    columns = zip(messages.keys, messages.values, strict=True)
    pairs = [(read(key), _present(read(value))) for key, value in columns]
    return pairs, messages.times, messages.partitions


def _present(value: Any) -> Any:
    """A delta without the members that Avro has as null."""
    if value is None or "op" not in value or "before" in value:
        return value
    return {name: member for name, member in value.items() if member is not None}


both = pytest.mark.parametrize("format", ["json", "avro"])
CHANGES: list[tuple[Row, int]] = [((7, "old"), -1), ((7, "new"), 1), ((8, "gone"), -1)]


@both
def test_deltas_are_as_the_lines_of_file_topics(format: Literal["json", "avro"]) -> None:
    pairs, times, partitions = made(format, "delta", drained(5, CHANGES))
    assert pairs == [
        ({"id": 7}, {"op": "-", "diff": -1, "time": 5, "row": {"id": 7, "name": "old"}}),
        ({"id": 7}, {"op": "+", "diff": 1, "time": 5, "row": {"id": 7, "name": "new"}}),
        ({"id": 8}, {"op": "-", "diff": -1, "time": 5, "row": {"id": 8, "name": "gone"}}),
    ]
    assert times == [5, 5, 5]
    assert partitions == [-1, -1, -1]


@both
def test_deltas_without_a_unique_key_keep_a_row_in_its_partition(
    format: Literal["json", "avro"],
) -> None:
    rows: list[tuple[Row, int]] = [((i, "x"), 1) for i in range(50)]
    taken: list[tuple[Row, int]] = [(row, -1) for row, _ in rows]
    pairs, _, partitions = made(format, "delta", drained(5, rows + taken), is_unique=False)
    assert all(key is None for key, _ in pairs)
    assert partitions[:50] == partitions[50:]
    assert set(partitions) == {0, 1, 2}


@both
def test_rows_that_could_not_be_computed_are_deltas(format: Literal["json", "avro"]) -> None:
    errors = pa.RecordBatch.from_pydict({"error": pa.array(["division by zero"], pa.string())})
    none = drained(5, [])
    changes = Drained(
        none.rows, none.times, none.diffs, errors, np.array([5], np.uint64), np.array([2], np.int64)
    )
    pairs, times, _ = made(format, "delta", changes)
    assert pairs == [(None, {"op": "+", "diff": 2, "time": 5, "error": "division by zero"})]
    assert times == [5]


@both
def test_each_partition_is_told_the_frontier(format: Literal["json", "avro"]) -> None:
    pairs, times, partitions = made(format, "delta", drained(5, []), frontiers=True)
    values = [{name: v for name, v in value.items() if v is not None} for _, value in pairs]
    ends = {"0": 9, "1": 3}
    assert values == [{"frontier": 5, "offsets": {"input": ends}, "sources": {"i": ends}}] * 3
    assert times == [5, 5, 5]
    assert partitions == [0, 1, 2]


@both
def test_an_upsert_is_the_row_that_is_there_now_or_a_tombstone(
    format: Literal["json", "avro"],
) -> None:
    pairs, _, _ = made(format, "upsert", drained(5, CHANGES))
    assert pairs == [({"id": 7}, {"id": 7, "name": "new"}), ({"id": 8}, None)]


@both
def test_a_debezium_event_says_what_was_and_what_is(format: Literal["json", "avro"]) -> None:
    changes = drained(5, [*CHANGES, ((9, "made"), 1)])
    pairs, _, _ = made(format, "debezium", changes)
    source = {
        "connector": "ivm",
        "name": "ivm",
        "view": "v",
        "snapshot": "false",
        "ts_ms": 1000,
        "time": 5,
    }
    said = {"source": source, "ts_ms": 1000}
    old, new = {"id": 7, "name": "old"}, {"id": 7, "name": "new"}
    gone, made_ = {"id": 8, "name": "gone"}, {"id": 9, "name": "made"}
    assert pairs == [
        ({"id": 7}, {"before": old, "after": new, "op": "u", **said}),
        ({"id": 8}, {"before": gone, "after": None, "op": "d", **said}),
        ({"id": 8}, None),
        ({"id": 9}, {"before": None, "after": made_, "op": "c", **said}),
    ]


@both
def test_a_snapshot_is_read(format: Literal["json", "avro"]) -> None:
    pairs, _, _ = made(format, "debezium", drained(5, [((9, "made"), 1)]), is_snapshot=True)
    assert pairs[0][1]["op"] == "r"
    assert pairs[0][1]["source"]["snapshot"] == "true"


@pytest.mark.parametrize("envelope", ["upsert", "debezium"])
def test_frontiers_are_for_deltas_only(envelope: Literal["upsert", "debezium"]) -> None:
    assert made("json", envelope, drained(5, []), frontiers=True) == ([], [], [])


@pytest.mark.parametrize("envelope", ["upsert", "debezium"])
def test_one_row_per_key_needs_a_key_that_is_unique(
    envelope: Literal["upsert", "debezium"],
) -> None:
    target = KafkaTarget("main", "topic", envelope)
    with pytest.raises(KeyNotUnique, match="give a `key` that is unique"):
        Output("v", SCHEMA, ("id",), False, "plan", target).check()
    Output("v", SCHEMA, ("id",), True, "plan", target).check()
    Output("v", SCHEMA, ("id",), False, "plan", KafkaTarget("main", "topic")).check()
