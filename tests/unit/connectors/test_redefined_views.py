"""A view with another definition on its way to Kafka: what one transaction says of it."""

from typing import Any, Literal

import numpy as np
import orjson
import pyarrow as pa
import pytest

from connectors.offsets import Offsets
from connectors.sinks.digest import weight
from connectors.sinks.encoding import JsonEncoding
from connectors.sinks.envelopes import Envelope
from connectors.sinks.kafka.progress import Published
from connectors.sinks.kafka.topics import Topic
from connectors.sinks.kafka.view import STAGE_BYTES, KafkaView
from connectors.sinks.sink import Output, Reached, Redefined
from connectors.sinks.target import KafkaTarget, OutputEnvelope
from ivm.results import Deltas

N: pa.Field = pa.field("n", pa.int64())
ID: pa.Field = pa.field("id", pa.int64())
NAME: pa.Field = pa.field("name", pa.string())
FORMER, LATER = pa.schema([ID, N]), pa.schema([N, NAME])
TOPIC = Topic("t", "i", 2, 1, 1_000_000)
AT = Reached(7, 0, Offsets())


def deltas(schema: pa.Schema, *rows: tuple[Any, ...], time: int = 7) -> Deltas:
    """Changes at one time; the last of each row is its diff."""
    columns = [pa.array([row[i] for row in rows], f.type) for i, f in enumerate(schema)]
    times, diffs = np.full(len(rows), time, np.uint64), np.array([row[-1] for row in rows])
    errors = pa.record_batch({"error": pa.array([], pa.string())})
    batch = pa.RecordBatch.from_arrays(columns, schema=schema)
    return Deltas(batch, times, diffs, errors, times[:0], diffs[:0])


def envelope(kind: OutputEnvelope, schema: pa.Schema, key: str, plan: str) -> Envelope:
    target = KafkaTarget("main", "t", kind)
    output = Output("v", schema, (key,), is_unique=True, plan=plan, target=target)
    return Envelope("s", output, JsonEncoding(), TOPIC.partitions)


def view(kind: OutputEnvelope) -> KafkaView:
    state = Published("t", "i", "former", 1)
    return KafkaView(envelope(kind, FORMER, "id", "former"), TOPIC, state, is_new=False)


def said(view: KafkaView) -> tuple[list[Any], Published]:
    """The keys and values of the next transaction, and the progress that it has."""
    out = view.outgoing(view.waiting, is_last=True)
    values = [value and orjson.loads(value) for value in out.messages.values]
    keys = [key and orjson.loads(key) for key in out.messages.keys]
    return list(zip(keys, values, strict=True)), out.state


GONE = deltas(FORMER, (1, 5, -1), (2, 6, -1))
COME = deltas(LATER, (5, "a", 1), (8, "b", 1))


def test_rows_of_the_former_form_go_before_those_of_the_later_come() -> None:
    made = view("delta")
    later = envelope("delta", LATER, "n", "later")
    made.redefine(later, Redefined(later.output, GONE, COME), AT)
    told, state = said(made)
    assert [(key, value["op"], value["row"]) for key, value in told[:4]] == [
        ({"id": 1}, "-", {"id": 1, "n": 5}),
        ({"id": 2}, "-", {"id": 2, "n": 6}),
        ({"n": 5}, "+", {"n": 5, "name": "a"}),
        ({"n": 8}, "+", {"n": 8, "name": "b"}),
    ]
    assert [value["frontier"] for _, value in told[4:]] == [7, 7], "once in each partition"
    assert (state.plan, state.sequence) == ("later", 6)


def test_by_key_former_keys_get_tombstones_and_later_ones_rows() -> None:
    made = view("upsert")
    later = envelope("upsert", LATER, "n", "later")
    made.redefine(later, Redefined(later.output, GONE, COME), AT)
    told, _ = said(made)
    assert told == [
        ({"id": 1}, None),
        ({"id": 2}, None),
        ({"n": 5}, {"n": 5, "name": "a"}),
        ({"n": 8}, {"n": 8, "name": "b"}),
    ]


@pytest.mark.parametrize("kind", ["upsert", "debezium"])
def test_in_the_same_form_a_row_that_differs_is_one_change(
    kind: Literal["upsert", "debezium"],
) -> None:
    made = view(kind)
    later = envelope(kind, FORMER, "id", "later")
    change = deltas(FORMER, (1, 5, -1), (2, 6, -1), (1, 9, 1))
    made.redefine(later, Redefined(later.output, None, change), AT)
    told, _ = said(made)
    row = {"id": 1, "n": 9}
    if kind == "debezium":
        [(_, changed), (_, deleted), (_, tombstone)] = told
        assert (changed["op"], changed["before"]["n"], changed["after"]) == ("u", 5, row)
        assert (deleted["op"], tombstone) == ("d", None)
    else:
        assert told == [({"id": 1}, row), ({"id": 2}, None)]


def test_the_digest_is_that_of_the_rows_that_are_there_then() -> None:
    made = view("delta")
    made.write(deltas(FORMER, (1, 5, 1), (2, 6, 1), time=6), Reached(6, 0, Offsets()))
    later = envelope("delta", LATER, "n", "later")
    made.redefine(later, Redefined(later.output, GONE, COME), AT)
    _, state = said(made)
    assert int(state.digest, 16) == weight(COME)


def test_what_a_stalled_view_lacks_is_not_divided_within_the_time() -> None:
    made = view("delta")
    later = envelope("delta", LATER, "n", "later")
    text = "x" * (STAGE_BYTES // 2 + 1)
    many = deltas(LATER, (1, text, 1), (2, text, 1))
    made.redefine(later, Redefined(later.output, GONE, many), AT)
    made.write(COME, Reached(8, 0, Offsets()))
    assert [written.reached.time for written in made.backlog()] == [7, 7]
