"""From Kafka through Spark to a receiver: committed records, each once and in order.

Names in brackets are rows of the matrix of faults.
"""

import time
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from confluent_kafka import TopicPartition
from confluent_kafka.admin import NewPartitions

from connectors.connections import Connection
from connectors.errors import (
    BrokerFault,
    BrokerRefused,
    InvalidTable,
    PipelineFailed,
    UnknownConnection,
    UnknownTopic,
)
from connectors.progress.batches import TimedBatch
from connectors.tables.spec import TableSpec
from connectors.tables.widen import since
from tests.e2e.connectors.conftest import PATIENCE, Service
from tests.e2e.connectors.test_pipeline import times, wait_failed, write
from tests.kafka.broker import PASSWORD, USER, Broker
from tests.kafka.client import Kafka, Record
from tests.kafka.java import await_true
from tests.unit.api.security.issuer import AUDIENCE, CLIENT, CLIENT_SECRET, TestIssuer
from tests.unit.api.security.issuer import listening as issuing
from tests.unit.connectors.records import SCHEMA, insert, record, table


def kafka_table(name: str, topic: str | None = None, **more: Any) -> TableSpec:
    """A table of Debezium records with whole images, on a topic of the same name."""
    options: dict[str, Any] = {
        "connector": "kafka",
        "connection": "main",
        "replica_identity": "full",
    }
    options |= {"on_error": "quarantine", **more}
    return TableSpec(name, topic or name, SCHEMA, **{"key": ("id",), **options})


def connect(service: Service, address: str, **more: Any) -> None:
    """Configure connection `main`, before the start."""
    connection = Connection(name="main", bootstrap_servers=address, **more)
    service.close()
    service.connections["main"] = connection
    service.open()


def add(service: Service, *specs: TableSpec) -> None:
    """Declare new tables as the composition root does."""
    for spec in specs:
        service.pipeline.add_table(spec, service.pipeline.preflight(spec))


def start(service: Service, *specs: TableSpec) -> None:
    service.pipeline.start([])
    add(service, *specs)


def reopen(service: Service, *specs: TableSpec) -> None:
    """Stop as a process that ends, and start again with tables that are known."""
    service.close()
    service.open()
    service.pipeline.start(specs)


@pytest.fixture
def topic(kafka: Kafka) -> str:
    """A topic of the test's own, with one partition."""
    name = f"t{uuid.uuid4().hex[:8]}"
    kafka.create_topic(name)
    return name


@pytest.fixture
def reading(service: Service, kafka: Kafka) -> Service:
    """A service with a connection to the broker, not started."""
    connect(service, kafka.address)
    return service


def test_records_of_all_partitions_arrive_in_order(reading: Service, kafka: Kafka) -> None:
    topic = f"t{uuid.uuid4().hex[:8]}"
    kafka.create_topic(topic, partitions=3)
    kafka.produce(topic, [Record(insert(n), partition=n % 3) for n in range(300)])
    start(reading, kafka_table(topic))
    collector = reading.collector
    collector.wait(lambda: collector.count(topic) == 300)
    for partition in range(3):
        ids = [n for n in collector.ids(topic) if n % 3 == partition]
        assert ids == list(range(partition, 300, 3))
    assert collector.batches[-1].offsets.by_topic() == {topic: {0: 100, 1: 100, 2: 100}}
    assert sum(batch.records for batch in collector.batches) == 300


def test_changes_take_rows_away_and_bad_records_are_quarantined(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    row = {"id": 1, "name": "a"}
    update = record("u", row, {"id": 1, "name": None})
    kafka.produce(topic, [insert(1), update, b"{bad", Record(None, b"1"), record("d", row)])
    start(reading, kafka_table(topic))
    collector = reading.collector
    collector.wait(lambda: collector.count(topic) == 4)
    diffs = [d for b in collector.batches for d in b.tables[topic].diffs.tolist()]
    assert diffs == [1, -1, 1, -1]
    (bad,) = reading.quarantine.page(10)
    assert (bad.record.offset, bad.record.reason) == (2, "not-json")
    assert sum(batch.records for batch in collector.batches) == 5


def test_a_topic_feeds_several_tables_and_stands_beside_files(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    kafka.produce(topic, [insert(n) for n in range(3)])
    write(reading, insert(7))
    start(reading, table(), kafka_table(topic), kafka_table("second", topic))
    collector = reading.collector
    collector.wait(lambda: collector.count(topic) == collector.count("second") == 3)
    collector.wait(lambda: collector.ids("people") == [7])
    write(reading, insert(8))
    kafka.produce(topic, [insert(3)])
    collector.wait(lambda: collector.ids("people") == [7, 8])
    collector.wait(lambda: collector.ids(topic) == collector.ids("second") == [0, 1, 2, 3])


def test_appended_rows_take_their_coordinates_from_the_record(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    kafka.produce(topic, [Record(b'{"name": "a"}', timestamp=1_700_000_000_123)] * 2)
    append: dict[str, Any] = {"envelope": "append", "replica_identity": "default", "key": ()}
    start(reading, kafka_table(topic, metadata={"id": "offset"}, **append))
    collector = reading.collector
    collector.wait(lambda: collector.ids(topic) == [0, 1])
    assert collector.batches[0].tables[topic].ts_ms.tolist()[0] == 1_700_000_000_123


def test_aborted_transactions_are_not_read_12(reading: Service, kafka: Kafka, topic: str) -> None:
    producer = kafka.producer({"transactional.id": topic})
    producer.init_transactions()
    for number, commits in enumerate([True, False, True, False]):
        producer.begin_transaction()
        for row in range(3):
            producer.produce(topic, insert(10 * number + row))
        if commits:
            producer.commit_transaction()
        else:
            producer.flush()
            producer.abort_transaction()
    start(reading, kafka_table(topic))
    collector = reading.collector
    collector.wait(lambda: collector.count(topic) == 6)
    kafka.produce(topic, [insert(99)])
    collector.wait(lambda: collector.count(topic) == 7)
    assert collector.ids(topic) == [0, 1, 2, 20, 21, 22, 99]
    assert sum(batch.records for batch in collector.batches) == 7
    reopen(reading, kafka_table(topic))
    assert reading.pipeline.wait_replayed(PATIENCE)
    assert times(reading.collector) == [(time, True) for time, _ in times(collector)]
    assert reading.collector.ids(topic) == collector.ids(topic)


def test_what_a_topic_holds_ends_with_its_last_record_and_not_with_markers(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    producer = kafka.producer({"transactional.id": topic})
    producer.init_transactions()
    for number in range(40):
        producer.begin_transaction()
        producer.produce(topic, insert(number))
        if number == 0:
            producer.commit_transaction()
        else:
            producer.flush()
            producer.abort_transaction()
    table = kafka_table(topic)
    held = reading.pipeline.held(table, reading.pipeline.preflight(table))
    start(reading, table)
    reading.collector.wait(lambda: reading.collector.count(topic) == 1)
    assert reading.collector.batches[-1].offsets.ends(topic) == held[topic] == {0: 1}


def test_markers_and_aborted_records_are_no_lag(reading: Service, kafka: Kafka, topic: str) -> None:
    producer = kafka.producer({"transactional.id": topic})
    producer.init_transactions()
    start(reading, kafka_table(topic))

    def lag_behind(end: int, gap: tuple[int, int] | None) -> int:
        await_true("the gap", lambda: reading.pipeline.gaps.get((topic, 0)) == gap)
        batches = reading.collector.batches
        reading.collector.wait(lambda: bool(batches) and batches[-1].offsets.ends(topic)[0] == end)
        return reading.pipeline.status().lag[topic, topic, 0]

    for number in range(2):
        producer.begin_transaction()
        producer.produce(topic, insert(number))
        producer.commit_transaction()
        producer.begin_transaction()
        producer.produce(topic, insert(9))
        producer.flush()
        producer.abort_transaction()
        first = 4 * number + 1  # behind it: a marker, an aborted record, and its marker
        assert lag_behind(first, (first, first + 3)) == 0
    kafka.produce(topic, [insert(2)])
    reading.collector.wait(lambda: reading.collector.ids(topic) == [0, 1, 2])
    assert lag_behind(9, (5, 8)) == 0


def test_an_open_transaction_of_others_holds_back_what_follows_it_11(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    kafka.produce(topic, [insert(1)])
    producer = kafka.producer({"transactional.id": topic})
    producer.init_transactions()
    producer.begin_transaction()
    producer.produce(topic, insert(2))
    producer.flush()
    kafka.produce(topic, [insert(3)])
    start(reading, kafka_table(topic))
    collector = reading.collector
    collector.wait(lambda: collector.ids(topic) == [1])
    write(reading, insert(7))
    add(reading, table())
    collector.wait(lambda: collector.ids("people") == [7])
    assert collector.ids(topic) == [1]
    producer.commit_transaction()
    collector.wait(lambda: collector.ids(topic) == [1, 2, 3])


def test_partitions_added_later_are_read_from_their_beginning_33(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    kafka.produce(topic, [insert(1)])
    start(reading, kafka_table(topic, start="latest"))
    kafka.produce(topic, [insert(2)])
    collector = reading.collector
    collector.wait(lambda: collector.ids(topic) == [2])
    admin = kafka.admin()
    for added in admin.create_partitions([NewPartitions(topic, 2)]).values():
        added.result(PATIENCE)
    kafka.produce(topic, [Record(insert(3), partition=1)])
    collector.wait(lambda: collector.ids(topic) == [2, 3])
    kafka.produce(topic, [Record(insert(4), partition=1)])
    reopen(reading, kafka_table(topic, start="latest"))
    collector = reading.collector
    collector.wait(lambda: collector.ids(topic) == [2, 3, 4])


def test_a_topic_created_again_stalls_until_the_source_is_declared_again_33(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    kafka.produce(topic, [insert(1), insert(2)])
    start(reading, kafka_table(topic))
    collector = reading.collector
    collector.wait(lambda: collector.count(topic) == 2)
    kafka.delete_topic(topic)
    await_created(kafka, topic)
    kafka.produce(topic, [insert(n) for n in range(10, 15)])
    told = f"topic '{topic}' was deleted and created again"
    await_true("a stall", lambda: told in reading.pipeline.stalled.get(topic, ""), PATIENCE)
    assert reading.pipeline.status().state == "running"
    assert collector.ids(topic) == [1, 2]
    reading.pipeline.remove_table(topic)
    add(reading, kafka_table(topic))
    collector.wait(lambda: collector.ids(topic) == [1, 2, 10, 11, 12, 13, 14])


def test_few_journaled_times_of_kafka_are_replayed_before_the_first_query(
    reading: Service, kafka: Kafka
) -> None:
    name = f"t{uuid.uuid4().hex[:8]}"
    kafka.create_topic(name, partitions=3)
    specs = kafka_table(name), kafka_table(f"{name}.too", name)  # two tables of one topic
    start(reading, *specs)
    before = reading.collector
    kafka.produce(name, [Record(insert(n), partition=n % 3) for n in range(300)])
    before.wait(lambda: before.count(name) == before.count(specs[1].name) == 300)
    kafka.produce(name, [Record(insert(n), partition=n % 3) for n in range(300, 600)])
    before.wait(lambda: before.count(name) == before.count(specs[1].name) == 600)
    reopen(reading, *specs)
    after = reading.collector
    assert [b.ranges for b in after.batches] == [b.ranges for b in before.batches]
    for spec in specs:
        assert after.ids(spec.name) == before.ids(spec.name)
    kafka.produce(name, [insert(600)])
    after.wait(lambda: after.count(name) == after.count(specs[1].name) == 601)


def test_a_topic_created_again_while_nobody_read_stalls_33(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    kafka.produce(topic, [insert(1)])
    start(reading, kafka_table(topic))
    reading.collector.wait(lambda: reading.collector.count(topic) == 1)
    reading.close()
    kafka.delete_topic(topic)
    await_created(kafka, topic)
    kafka.produce(topic, [insert(n) for n in range(10, 15)])
    reading.open()
    reading.pipeline.start([kafka_table(topic)])
    with pytest.raises(PipelineFailed, match="began with the topic of id"):
        wait_failed(reading)
    assert reading.collector.batches == []


def await_created(kafka: Kafka, topic: str) -> None:
    """Create a topic that is being deleted."""

    def is_created() -> bool:
        try:
            kafka.create_topic(topic)
        except Exception:
            return False
        return True

    await_true("the topic", is_created)


def test_records_lost_to_retention_stall_and_are_named_33(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    kafka.produce(topic, [insert(n) for n in range(3)])
    start(reading, kafka_table(topic))
    reading.collector.wait(lambda: reading.collector.count(topic) == 3)
    reading.close()
    kafka.produce(topic, [insert(n) for n in range(3, 8)])
    admin = kafka.admin()
    for gone in admin.delete_records([TopicPartition(topic, 0, 6)]).values():
        gone.result(PATIENCE)
    reading.open()
    reading.pipeline.start([kafka_table(topic)])
    lost = f"topic '{topic}', partition 0: it holds the offsets from 6 to 7"
    with pytest.raises(PipelineFailed, match=lost):
        wait_failed(reading)


def test_where_reading_begins_is_decided_once(reading: Service, kafka: Kafka, topic: str) -> None:
    kafka.produce(topic, [Record(insert(n), timestamp=1_700_000_000_000 + n) for n in range(6)])
    specs = [
        kafka_table("latest", topic, start="latest"),
        kafka_table("given", topic, start={"offsets": {0: 4}}),
        kafka_table("timed", topic, start={"timestamp": 1_700_000_000_002}),
        kafka_table("late", topic, start={"timestamp": 1_800_000_000_000}),
    ]
    start(reading, *specs)
    with pytest.raises(InvalidTable, match="offset 7 is not there; it holds 0 to 5"):
        reading.pipeline.preflight(kafka_table("wrong", topic, start={"offsets": {0: 7}}))
    with pytest.raises(InvalidTable, match="partition 1: there are 1 partitions"):
        reading.pipeline.preflight(kafka_table("wrong", topic, start={"offsets": {1: 0}}))
    collector = reading.collector
    collector.wait(lambda: collector.ids("given") == [4, 5])
    collector.wait(lambda: collector.ids("timed") == [2, 3, 4, 5])
    reading.close()
    kafka.produce(topic, [insert(6)])
    reading.open()
    reading.pipeline.start(specs)
    collector = reading.collector
    collector.wait(lambda: collector.ids("latest") == [6] == collector.ids("late"))
    collector.wait(lambda: collector.ids("given") == [4, 5, 6])


def test_a_restart_replays_the_journaled_times_with_their_records(
    reading: Service, kafka: Kafka
) -> None:
    topic = f"t{uuid.uuid4().hex[:8]}"
    kafka.create_topic(topic, partitions=3)
    write(reading, insert(1))
    start(reading, kafka_table(topic), table())
    collector = reading.collector
    for round_ in range(4):
        first = 100 * round_
        kafka.produce(
            topic, [Record(insert(n), partition=n % 3) for n in range(first, first + 100)]
        )
        write(reading, insert(round_))
        count = first + 100
        collector.wait(lambda count=count: collector.count(topic) == count)  # type: ignore[misc]
        collector.wait(lambda n=round_: collector.count("people") == n + 2)  # type: ignore[misc]
    kept = [(b.time, b.ranges, b.records) for b in collector.batches]
    contents = [b.tables[topic].rows.to_pylist() for b in collector.batches if topic in b.tables]
    reading.close()
    kafka.produce(topic, [Record(insert(n), partition=n % 3) for n in range(400, 500)])
    reading.open()
    reading.pipeline.start([kafka_table(topic), table()])
    again = reading.collector
    again.wait(lambda: again.count(topic) == 500)
    replayed = again.batches[: len(kept)]
    assert [(b.time, b.ranges, b.records) for b in replayed] == kept
    assert [b.tables[topic].rows.to_pylist() for b in replayed if topic in b.tables] == contents
    assert all(b.committed for b in replayed)


def test_what_cannot_be_read_is_told_before_it_is_declared(reading: Service, kafka: Kafka) -> None:
    refuse = reading.pipeline.preflight
    with pytest.raises(UnknownTopic, match="'main' has no such topic"):
        refuse(kafka_table("nothere"))
    with pytest.raises(UnknownConnection, match=r"no connection 'other'; there are \['main'\]"):
        refuse(kafka_table("nothere", connection="other"))
    connect(reading, "127.0.0.1:9")
    began = time.monotonic()
    with pytest.raises(BrokerFault, match=r"connections.main.bootstrap_servers: .*refused") as told:
        reading.pipeline.preflight(kafka_table("nothere"))
    assert told.value.setting == "connections.main.bootstrap_servers"
    assert time.monotonic() - began < 10


def test_a_broker_that_is_away_is_waited_for_14(service: Service, broker: Broker) -> None:
    broker.create_topic("t")
    broker.produce("t", [insert(1)])
    write(service, insert(7))
    connect(service, broker.address)
    start(service, kafka_table("t"), table())
    collector = service.collector
    collector.wait(lambda: collector.ids("t") == [1])
    broker.kill()
    await_true("a fault", lambda: service.pipeline.status().faults, 20)
    (fault,) = service.pipeline.status().faults
    assert (fault.part, fault.setting) == ("connection main", "connections.main.bootstrap_servers")
    broker.start()
    broker.produce("t", [insert(2)])
    collector.wait(lambda: collector.ids("t") == [1, 2])
    await_true("no fault", lambda: not service.pipeline.status().faults)
    broker.kill()
    reopen(service, kafka_table("t"), table())
    await_true("a fault", lambda: service.pipeline.status().faults, 20)
    assert service.pipeline.status().state == "replaying"
    broker.start()
    service.collector.wait(lambda: service.collector.ids("t") == [1, 2])


def test_a_frozen_broker_is_waited_for_15(service: Service, broker: Broker) -> None:
    broker.create_topic("t")
    connect(service, broker.address)
    start(service, kafka_table("t"))
    broker.produce("t", [insert(1)])
    service.collector.wait(lambda: service.collector.ids("t") == [1])
    broker.pause()
    await_true("a fault", lambda: service.pipeline.status().faults, 20)
    time.sleep(45)  # what the matrix asks for
    broker.resume()
    broker.produce("t", [insert(2)])
    service.collector.wait(lambda: service.collector.ids("t") == [1, 2])


@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-512"])
def test_credentials_and_certificates_are_used_by_both_clients(
    service: Service, secured: Broker, mechanism: str
) -> None:
    topic = f"read-with-{mechanism}"
    assert secured.certificates is not None
    secured.create_topic(topic)
    secured.produce(topic, [insert(1)])
    options = {
        "security_protocol": "SASL_SSL",
        "sasl_mechanism": mechanism,
        "sasl_username": USER,
        "ssl_ca_location": secured.certificates.ca,
    }
    address = secured.addresses["SASL_SSL"]
    connect(service, address, **options, sasl_password="wrong")
    with pytest.raises(BrokerRefused, match=r"connections\.main\.sasl_password"):
        service.pipeline.preflight(kafka_table("t", topic))
    connect(service, address, **options, sasl_password=PASSWORD)
    start(service, kafka_table("t", topic))
    service.collector.wait(lambda: service.collector.ids("t") == [1])
    service.pipeline.stop()


def test_tokens_of_an_issuer_are_used_by_both_clients(service: Service, tmp_path: Path) -> None:
    with (
        issuing() as issuer,
        Broker.started(
            tmp_path / "broker",
            secured=True,
            settings=taking_tokens(issuer),
            options=(f"-Dorg.apache.kafka.sasl.oauthbearer.allowed.urls={issuer.url}/keys",),
        ) as broker,
    ):
        broker.create_topic("t")
        broker.produce("t", [insert(1)])
        options = {
            "security_protocol": "SASL_PLAINTEXT",
            "sasl_mechanism": "OAUTHBEARER",
            "sasl_oauthbearer_token_endpoint_url": f"{issuer.url}/token",
            "sasl_oauthbearer_client_id": CLIENT,
        }
        address = broker.addresses["SASL_PLAINTEXT"]
        connect(service, address, **options, sasl_oauthbearer_client_secret="wrong")
        with pytest.raises(BrokerRefused, match="sasl_oauthbearer_client_secret"):
            service.pipeline.preflight(kafka_table("t", "t"))
        connect(service, address, **options, sasl_oauthbearer_client_secret=CLIENT_SECRET)
        start(service, kafka_table("t", "t"))
        service.collector.wait(lambda: service.collector.ids("t") == [1])
        service.pipeline.stop()


def taking_tokens(issuer: TestIssuer) -> dict[str, str]:
    """Settings of a broker that takes the tokens of an issuer for passwords."""
    package = "org.apache.kafka.common.security.oauthbearer"
    of_listener = "listener.name.sasl_plaintext.oauthbearer"
    return {
        "listener.name.sasl_plaintext.sasl.enabled.mechanisms": "OAUTHBEARER",
        f"{of_listener}.sasl.jaas.config": f"{package}.OAuthBearerLoginModule required;",
        f"{of_listener}.sasl.server.callback.handler.class": (
            f"{package}.OAuthBearerValidatorCallbackHandler"
        ),
        f"{of_listener}.sasl.oauthbearer.jwks.endpoint.url": f"{issuer.url}/keys",
        f"{of_listener}.sasl.oauthbearer.expected.audience": AUDIENCE,
        f"{of_listener}.sasl.oauthbearer.expected.issuer": issuer.url,
    }


def test_a_table_gets_a_column_between_two_batches(
    reading: Service, kafka: Kafka, topic: str
) -> None:
    narrow = kafka_table(topic, replica_identity="default")
    wide = replace(narrow, schema=pa.schema([*SCHEMA, pa.field("note", pa.string())]))
    start(reading, narrow)
    collector, altered = reading.collector, []

    def apply(batch: TimedBatch) -> TableSpec:
        reading.journal.commit(batch.time, {})
        altered.append(since(narrow, wide, batch.offsets.of_table(topic)))
        return altered[-1]

    def produce(*numbers: int) -> None:
        rows = ({"id": n, "name": "a", "note": f"note {n}"} for n in numbers)
        kafka.produce(topic, [record("c", after=row) for row in rows])

    def notes(batches: list[TimedBatch]) -> list[object]:
        rows = [row for b in batches for row in b.tables[topic].rows.to_pylist() if b.tables]
        return [(row["id"], row.get("note")) for row in rows]

    produce(0, 1)
    collector.wait(lambda: collector.count(topic) == 2)
    produce(2)
    assert reading.pipeline.alter_table(topic, apply)
    produce(3)
    collector.wait(lambda: collector.count(topic) == 4)
    found = notes(collector.batches)
    assert found[:2] == [(0, None), (1, None)]
    assert found[3:] == [(3, "note 3")]
    reopen(reading, *altered)
    reading.collector.wait(lambda: reading.collector.count(topic) == 4)
    assert notes(reading.collector.batches) == found
