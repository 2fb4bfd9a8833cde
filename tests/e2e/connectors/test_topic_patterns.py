"""A table of all topics that a pattern matches, of later ones too, from a real broker."""

import uuid
from typing import Any

import pyarrow as pa
import pytest

from connectors.tables.spec import TableSpec
from connectors.tables.widen import since
from tests.e2e.connectors.conftest import PATIENCE, Service
from tests.e2e.connectors.test_kafka import add, await_created, connect, reopen
from tests.kafka.client import Kafka, Record
from tests.kafka.java import await_true
from tests.unit.connectors.records import insert

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("topic", pa.string(), nullable=False),
    pa.field("name", pa.string()),
]


@pytest.fixture
def shop() -> str:
    """The beginning of the names of the test's own topics."""
    return f"shop{uuid.uuid4().hex[:8]}"


@pytest.fixture
def reading(service: Service, kafka: Kafka) -> Service:
    """A service with a connection to the broker, started without a table."""
    connect(service, kafka.address)
    service.pipeline.start([])
    return service


def orders(shop: str, **more: Any) -> TableSpec:
    """The orders of all of a shop's countries; a country's topic is a part of their key."""
    options: dict[str, Any] = {"on_error": "stall", **more}
    return TableSpec(
        "orders",
        "",
        pa.schema(FIELDS),
        ("topic", "id"),
        connector="kafka",
        connection="main",
        metadata={"topic": "topic"},
        topic_pattern=rf"{shop}\.[a-z]+\.orders",
        **options,
    )


def country(kafka: Kafka, shop: str, name: str, *ids: int, partitions: int = 1) -> str:
    """A country's topic, which is made with these orders."""
    topic = f"{shop}.{name}.orders"
    kafka.create_topic(topic, partitions=partitions)
    kafka.produce(topic, [insert(n) for n in ids])
    return topic


def rows(reading: Service) -> list[tuple[str, int]]:
    """The country and id of each order that came."""
    found = [batch.tables["orders"] for batch in reading.collector.batches if batch.tables]
    pairs = [
        (row["topic"].split(".")[1], row["id"])
        for updates in found
        for row, diff in zip(updates.rows.to_pylist(), updates.diffs.tolist(), strict=True)
        if diff > 0
    ]
    return sorted(pairs)


def wait_for(reading: Service, *expected: tuple[str, int]) -> None:
    reading.collector.wait(lambda: rows(reading) == sorted(expected))


def test_all_topics_that_match_are_one_table_which_says_of_which_each_row_is(
    reading: Service, kafka: Kafka, shop: str
) -> None:
    topics = [country(kafka, shop, name, 1, 2) for name in ("eu", "us")]
    kafka.create_topic(f"{shop}.eu.returns")
    add(reading, orders(shop))
    wait_for(reading, ("eu", 1), ("eu", 2), ("us", 1), ("us", 2))
    offsets = reading.collector.batches[-1].offsets
    assert offsets.by_topic() == {topic: {0: 2} for topic in topics}
    assert offsets.of_table("orders") == {topic: {0: 2} for topic in topics}


def test_a_topic_that_comes_later_is_read_from_its_first_record(
    reading: Service, kafka: Kafka, shop: str
) -> None:
    country(kafka, shop, "eu", 1)
    add(reading, orders(shop, start="latest"))
    kafka.produce(f"{shop}.eu.orders", [insert(2)])
    wait_for(reading, ("eu", 2))
    country(kafka, shop, "us", 7, 8)
    wait_for(reading, ("eu", 2), ("us", 7), ("us", 8))


def test_a_pattern_without_a_topic_waits_for_the_first(
    reading: Service, kafka: Kafka, shop: str
) -> None:
    add(reading, orders(shop))
    country(kafka, shop, "eu", 1)
    wait_for(reading, ("eu", 1))
    assert reading.pipeline.status().state == "running"


def test_a_restart_gives_each_record_the_time_that_it_had_and_finds_what_came_meanwhile(
    reading: Service, kafka: Kafka, shop: str
) -> None:
    for name in ("eu", "us"):
        country(kafka, shop, name, 1)
    add(reading, orders(shop))
    wait_for(reading, ("eu", 1), ("us", 1))
    country(kafka, shop, "jp", 1)
    wait_for(reading, ("eu", 1), ("jp", 1), ("us", 1))
    before = [(b.time, rows_of) for b in reading.collector.batches if (rows_of := len(b.tables))]
    reading.close()
    country(kafka, shop, "br", 5)
    kafka.produce(f"{shop}.jp.orders", [insert(2)])
    reading.open()
    reading.pipeline.start([orders(shop)])
    wait_for(reading, ("br", 5), ("eu", 1), ("jp", 1), ("jp", 2), ("us", 1))
    again = [(b.time, len(b.tables)) for b in reading.collector.batches if b.committed and b.tables]
    assert again == before


def test_a_topic_created_again_stands_still_alone(
    reading: Service, kafka: Kafka, shop: str
) -> None:
    topics = {name: country(kafka, shop, name, 1) for name in ("eu", "us")}
    add(reading, orders(shop))
    wait_for(reading, ("eu", 1), ("us", 1))
    kafka.delete_topic(topics["us"])
    await_created(kafka, topics["us"])
    stream = f"orders:{topics['us']}"
    told = f"topic '{topics['us']}' was deleted and created again"
    await_true("a stall", lambda: told in reading.pipeline.stalled.get(stream, ""), PATIENCE)
    kafka.produce(topics["eu"], [insert(2)])
    wait_for(reading, ("eu", 1), ("eu", 2), ("us", 1))
    assert list(reading.pipeline.stalled) == [stream]


def test_a_bad_record_is_told_by_its_topic_and_holds_up_no_other(
    reading: Service, kafka: Kafka, shop: str
) -> None:
    topics = {name: country(kafka, shop, name, 1) for name in ("eu", "us")}
    add(reading, orders(shop))
    wait_for(reading, ("eu", 1), ("us", 1))
    kafka.produce(topics["us"], [b"{bad", insert(2)])
    stream = f"orders:{topics['us']}"
    await_true("a stall", lambda: stream in reading.pipeline.stalled, PATIENCE)
    assert f"topic '{topics['us']}', partition 0, offset 1" in reading.pipeline.stalled[stream]
    kafka.produce(topics["eu"], [insert(2)])
    wait_for(reading, ("eu", 1), ("eu", 2), ("us", 1))
    reading.pipeline.skip((stream, 0, 1))
    wait_for(reading, ("eu", 1), ("eu", 2), ("us", 1), ("us", 2))
    [kept] = reading.quarantine.page(10, table="orders")
    assert (kept.record.table, kept.record.topic, kept.record.offset) == (stream, topics["us"], 1)
    assert reading.quarantine.counts() == {("orders", topics["us"], "not-json"): 1}


def test_lag_and_positions_are_told_by_topic(reading: Service, kafka: Kafka, shop: str) -> None:
    topics = [country(kafka, shop, name, 1, partitions=2) for name in ("eu", "us")]
    kafka.produce(topics[1], [Record(insert(9), partition=1)])
    add(reading, orders(shop))
    reading.collector.wait(lambda: len(rows(reading)) == 3)
    places = {("orders", topic, partition) for topic in topics for partition in (0, 1)}
    await_true("the lag", lambda: reading.pipeline.status().lag.keys() == places, PATIENCE)
    assert set(reading.pipeline.status().lag.values()) == {0}
    assert reading.pipeline.status().positions["orders", topics[1], 1] >= 1


def test_columns_are_added_to_all_topics_and_to_those_that_come_later(
    reading: Service, kafka: Kafka, shop: str
) -> None:
    country(kafka, shop, "eu", 1)
    narrow = orders(shop)
    add(reading, narrow)
    wait_for(reading, ("eu", 1))
    more = pa.field("price", pa.int64())
    wide = TableSpec.from_json(narrow.to_json() | {"columns": [
        *narrow.to_json()["columns"], {"name": more.name, "type": "int64", "nullable": True},
    ]})  # fmt: skip
    found = []

    def apply(batch: Any) -> TableSpec:
        found.append(since(narrow, wide, batch.offsets.of_table("orders")))
        return found[0]

    assert reading.pipeline.alter_table("orders", apply)
    priced = (
        insert(2)
        .replace(b'"id": 2', b'"id": 2, "price": 5')
        .replace(b'"id":2', b'"id":2,"price":5')
    )
    kafka.produce(f"{shop}.eu.orders", [priced])
    topic = country(kafka, shop, "us")
    kafka.produce(topic, [priced])
    wait_for(reading, ("eu", 1), ("eu", 2), ("us", 2))
    prices = [
        row.get("price") for b in reading.collector.batches
        for row in (b.tables["orders"].rows.to_pylist() if b.tables else ())
    ]  # fmt: skip
    assert prices == [None, 5, 5]
    reopen(reading, found[0])
    wait_for(reading, ("eu", 1), ("eu", 2), ("us", 2))


def test_a_source_that_is_dropped_and_declared_again_reads_all_topics_anew(
    reading: Service, kafka: Kafka, shop: str
) -> None:
    country(kafka, shop, "eu", 1)
    country(kafka, shop, "us", 1)
    add(reading, orders(shop))
    wait_for(reading, ("eu", 1), ("us", 1))
    reading.pipeline.remove_table("orders")
    assert reading.journal.tables == {}
    add(reading, orders(shop))
    wait_for(reading, ("eu", 1), ("eu", 1), ("us", 1), ("us", 1))


def test_real_time_mode_reads_topics_that_come_later(
    service: Service, kafka: Kafka, shop: str
) -> None:
    connect(service, kafka.address)
    service.close()
    service.open(trigger="real-time")
    service.pipeline.start([])
    country(kafka, shop, "eu", 1)
    add(service, orders(shop))
    wait_for(service, ("eu", 1))
    country(kafka, shop, "us", 2)
    wait_for(service, ("eu", 1), ("us", 2))
