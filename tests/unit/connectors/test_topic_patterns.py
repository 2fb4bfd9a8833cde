"""Topic patterns: what a declaration may say, and the streams that it is read as."""

from typing import Any

import pyarrow as pa
import pytest

from connectors.declaration import DeadLetter, Former
from connectors.errors import InvalidTable
from connectors.ingest.keyed_tables import KeyedTables
from connectors.progress.batches import Range
from connectors.progress.journal import Beginning, Journal
from connectors.streams import stream_name, table_of
from connectors.tables.patterns import matching
from connectors.tables.spec import TableSpec
from connectors.tables.validate import reads

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("topic", pa.string(), nullable=False),
]


def orders(**more: Any) -> TableSpec:
    options: dict[str, Any] = {
        "connector": "kafka",
        "connection": "main",
        "metadata": {"topic": "topic"},
        "topic_pattern": r"shop\.[a-z]+\.orders",
        **more,
    }
    topic = options.pop("topic", "")
    return TableSpec("orders", topic, pa.schema(FIELDS), options.pop("key", ("id",)), **options)


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"shop\.[a-z]+\.orders", ["shop.eu.orders", "shop.us.orders"]),
        ("shop.*.orders", ["shop.eu.orders", "shop.us.orders"]),
        ("shop", []),
        (".*", ["_schemas", "returns", "shop.eu.orders", "shop.us.orders"]),
    ],
)
def test_a_pattern_matches_whole_names_but_those_of_kafka_itself(
    pattern: str, found: list[str]
) -> None:
    topics = ["shop.us.orders", "shop.eu.orders", "returns", "_schemas", "__consumer_offsets"]
    assert matching(pattern, topics) == found


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"topic_pattern": "("}, "topic_pattern: '\\(' is no regular expression"),
        ({"topic_pattern": "(?=a)"}, "topic_pattern: .* is no regular expression"),
        ({"topic": "shop.eu.orders"}, "topic_pattern: a source has a topic or a pattern"),
        ({"connector": "files", "connection": None}, "topic_pattern: .* 'kafka'"),
        (
            {"resolution": "transaction", "transaction_topic": "shop.transaction"},
            "resolution: 'transaction' waits for all topics",
        ),
        ({"start": {"offsets": {0: 5}}}, "start: offsets are those of one topic"),
        ({"dead_letter": DeadLetter("main", "shop.bad.orders")}, "dead_letter.topic"),
        ({"key": ("topic",)}, "key: a primary key comes from the record's contents"),
    ],
)
def test_what_cannot_be_read_of_several_topics_is_refused(more: dict[str, Any], field: str) -> None:
    with pytest.raises(InvalidTable, match=field):
        orders(**more)


def test_appended_rows_of_several_topics_are_told_apart_by_their_topic_too() -> None:
    columns = [pa.field(n, pa.int64(), nullable=False) for n in ("id", "partition", "offset")]
    kinds = {"partition": "partition", "offset": "offset", "topic": "topic"}
    options: dict[str, Any] = {
        "connector": "kafka", "connection": "main", "envelope": "append", "metadata": kinds,
        "topic_pattern": "shop.*",
    }  # fmt: skip
    schema = pa.schema([*columns, FIELDS[1]])
    TableSpec("orders", "", schema, ("topic", "partition", "offset"), **options)
    with pytest.raises(InvalidTable, match="'offset', 'partition', 'topic'"):
        TableSpec("orders", "", schema, ("partition", "offset"), **options)


def test_the_topic_may_be_a_part_of_the_key() -> None:
    assert orders(key=("topic", "id")).stream("shop.eu.orders").key == ("topic", "id")


def test_a_declaration_travels_as_json() -> None:
    former = Former(pa.schema(FIELDS), {}, {}, {"shop.eu.orders": {0: 5, 1: 7}})
    spec = orders(formerly=(former,))
    assert spec.to_json()["topic"] is None
    assert TableSpec.from_json(spec.to_json()) == spec


def test_a_stream_is_the_table_as_one_topic_is_read() -> None:
    former = Former(pa.schema(FIELDS), {}, {}, {"shop.eu.orders": {0: 5}})
    stream = orders(formerly=(former,)).stream("shop.eu.orders")
    assert (stream.name, stream.topic) == ("orders:shop.eu.orders", "shop.eu.orders")
    assert stream.topic_pattern is None
    assert stream.formerly[0].below == {0: 5}
    assert orders(formerly=(former,)).stream("shop.us.orders").formerly[0].below == {}
    assert stream.stream("another") is stream


@pytest.mark.parametrize("topic", ["orders", "shop.eu.orders", "a-b_c.d"])
def test_the_name_of_a_stream_tells_its_table(topic: str) -> None:
    assert table_of(stream_name("orders", topic)) == table_of("orders") == "orders"


def test_a_table_would_read_the_topics_that_it_names_or_matches() -> None:
    assert reads(orders(), "shop.jp.orders")
    assert not reads(orders(), "shop.jp.returns")
    one = orders(topic="shop.eu.orders", topic_pattern=None)
    assert [reads(one, topic) for topic in ("shop.eu.orders", "shop.jp.orders")] == [True, False]


def test_streams_live_and_end_with_their_table(tmp_path: Any) -> None:
    journal = Journal(tmp_path / "journal")
    for stream, topic in (("orders:a", "a"), ("orders:b", "b"), ("others", "a")):
        journal.start_table(stream, Beginning(topic, "id", {0: 0}))
        journal.declare_table(stream, {0: 3})
    journal.start_table("orders", Beginning("", "", {}))
    journal.prepare(1, [Range("orders:a", "a", 0, 0, 3), Range("others", "a", 0, 0, 3)], 1)
    journal.drop_table("orders")
    left = {"others": "a"}
    for _ in range(2):
        assert (journal.tables, journal.held) == (left, {"others": {0: 3}})
        assert journal.positions() == {("others", 0): 3}
        assert [r.table for entry in journal.entries() for r in entry.ranges] == ["others"]
        assert (journal.epoch("orders"), journal.epoch("orders:b"), journal.epoch("others")) == (
            1,
            1,
            0,
        )
        journal.close()
        journal = Journal(tmp_path / "journal")
    journal.close()


def test_a_start_reads_the_streams_that_have_begun(tmp_path: Any) -> None:
    journal = Journal(tmp_path / "journal")
    journal.start_table("orders:shop.eu.orders", Beginning("shop.eu.orders", "id", {0: 0}))
    journal.start_table("orders", Beginning("", "", {}))
    tables = KeyedTables(journal)
    assert list(tables.add([orders()])) == ["orders:shop.eu.orders@0"]
    assert tables.get("orders") == orders()
    assert list(tables.follow([orders().stream("shop.us.orders")])) == ["orders:shop.us.orders@0"]
    assert tables.without("orders") == ["orders"]
    tables.remove("orders")
    assert (tables.by_key, tables.patterns) == ({}, {})
    journal.close()
