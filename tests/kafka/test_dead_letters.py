"""What is put aside arrives in its dead-letter topic as it is, with where it stood and why."""

import time
import uuid
from dataclasses import replace
from pathlib import Path

import pytest

from connectors.connections import Connection
from connectors.declaration import DeadLetter
from connectors.quarantine.dead_letters import DeadLetters
from connectors.quarantine.store import Quarantine, Rejected
from connectors.tables.spec import TableSpec
from tests.kafka.client import Kafka
from tests.unit.connectors.records import table

PATIENCE = 60.0
BAD = Rejected(
    *("people", "people", 2, 7, "not-json", "it ends", b"{\xff", 17),
    key=b"k\0",
    timestamp=5,
    headers=(("trace", b"\xfe"),),
)


@pytest.fixture
def store(tmp_path: Path) -> Quarantine:
    return Quarantine(tmp_path / "quarantine")


def letters(store: Quarantine, address: str, topic: str) -> DeadLetters:
    spec: TableSpec = replace(table(), dead_letter=DeadLetter("main", topic))
    connection = Connection(name="main", bootstrap_servers=address)
    return DeadLetters(store, {"main": connection}, lambda: [spec], "ivm")


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = f"dead-{uuid.uuid4().hex}"
    kafka.create_topic(name)
    return name


def wait_sent(store: Quarantine) -> None:
    deadline = time.monotonic() + PATIENCE
    while store.unsent("people", 1):
        assert time.monotonic() < deadline, "records are not sent"
        time.sleep(0.05)


def test_a_record_arrives_byte_for_byte_with_its_place_and_reason(
    kafka: Kafka, topic: str, store: Quarantine
) -> None:
    store.add([BAD, replace(BAD, offset=8, value=None, key=None, headers=None)])
    sending = letters(store, kafka.address, topic)
    sending.start()
    wait_sent(store)
    sending.stop()
    assert sending.faults() == []
    first, second = kafka.read_committed(topic)
    assert (first.key(), first.value()) == (b"k\0", b"{\xff")
    assert (second.key(), second.value()) == (None, None)
    headers = dict(first.headers() or ())
    assert headers.pop("trace") == b"\xfe"
    assert headers == {
        "__connect.errors.topic": b"people",
        "__connect.errors.partition": b"2",
        "__connect.errors.offset": b"7",
        "__connect.errors.connector.name": b"ivm.people",
        "__connect.errors.stage": b"VALUE_CONVERTER",
        "__connect.errors.exception.class.name": b"not-json",
        "__connect.errors.exception.message": b"it ends",
    }


def test_a_record_that_was_sent_is_not_sent_again(
    kafka: Kafka, topic: str, store: Quarantine
) -> None:
    for offset in (1, 2):
        store.add([replace(BAD, offset=1), replace(BAD, offset=offset)])
        sending = letters(store, kafka.address, topic)
        sending.start()
        wait_sent(store)
        sending.stop()
    assert len(kafka.read_committed(topic)) == 2


def test_a_record_too_large_for_the_topic_does_not_keep_others_waiting(
    kafka: Kafka, topic: str, store: Quarantine
) -> None:
    store.add([replace(BAD, value=b"x" * (3 << 20)), replace(BAD, offset=8)])
    sending = letters(store, kafka.address, topic)
    sending.start()
    wait_sent(store)
    sending.stop()
    (message,) = kafka.read_committed(topic)
    assert message.value() == BAD.value


def test_a_broker_that_is_away_is_told_and_nothing_is_lost(store: Quarantine) -> None:
    store.add([BAD])
    sending = letters(store, "127.0.0.1:9", "dead")
    sending.start()
    deadline = time.monotonic() + PATIENCE
    while not sending.faults():
        assert time.monotonic() < deadline, "no fault is told"
        time.sleep(0.05)
    sending.stop()
    (fault,) = sending.faults()
    assert fault.part == "dead letters of people"
    assert fault.setting == "connections.main.bootstrap_servers"
    assert store.unsent("people", 1) == [BAD]
