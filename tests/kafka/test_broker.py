"""The tests' broker is a real one: it keeps what it acknowledged and hides what is aborted."""

import threading
import uuid

import pytest
from confluent_kafka import KafkaException

from tests.kafka.broker import PASSWORD, USER, Broker, Protocol
from tests.kafka.client import Kafka, Record


@pytest.fixture
def topic(kafka: Kafka) -> str:
    name = f"broker-{uuid.uuid4()}"
    kafka.create_topic(name)
    return name


@pytest.fixture(scope="module")
def secured(secured: Broker) -> Broker:
    """The secured broker, with a topic to read."""
    secured.create_topic("greetings")
    secured.produce("greetings", [b"hello"])
    return secured


def test_records_come_back_with_their_coordinates(kafka: Kafka, topic: str) -> None:
    sent: list[bytes | Record] = [
        b"plain",
        Record(None, key=b"k", headers=(("h", b"1"),), timestamp=1_700_000_000_000),
    ]
    assert kafka.produce(topic, sent) == [(0, 0), (0, 1)]
    plain, tombstone = kafka.read_committed(topic)
    assert (plain.value(), plain.key()) == (b"plain", None)
    assert (tombstone.value(), tombstone.key()) == (None, b"k")
    assert tombstone.headers() == [("h", b"1")]
    assert tombstone.timestamp()[1] == 1_700_000_000_000


def test_a_reader_of_committed_records_sees_no_aborted_and_no_open_transaction(
    kafka: Kafka, topic: str
) -> None:
    producer = kafka.producer({"transactional.id": topic})
    producer.init_transactions()
    for text in (b"aborted", b"committed", b"open"):
        producer.begin_transaction()
        producer.produce(topic, text)
        producer.flush()
        if text == b"aborted":
            producer.abort_transaction()
        if text == b"committed":
            producer.commit_transaction()
    assert [m.value() for m in kafka.read_committed(topic)] == [b"committed"]
    texts = [m.value() for m in kafka.read_uncommitted(topic)]
    assert texts == [b"aborted", b"committed", b"open"]
    producer.abort_transaction()


def test_a_killed_broker_keeps_its_address_and_what_it_acknowledged(broker: Broker) -> None:
    broker.create_topic("survivors", partitions=2)
    broker.produce("survivors", [Record(b"%d" % n, partition=n % 2) for n in range(100)])
    broker.kill()
    broker.start()
    kept = sorted(int(m.value() or b"") for m in broker.read_committed("survivors"))
    assert kept == list(range(100))


def test_a_frozen_broker_answers_after_it_goes_on(broker: Broker) -> None:
    broker.create_topic("patient")
    broker.pause()
    sender = threading.Thread(target=broker.produce, args=("patient", [b"waits"]))
    sender.start()
    sender.join(1)
    assert sender.is_alive()
    broker.resume()
    sender.join()
    assert [m.value() for m in broker.read_committed("patient")] == [b"waits"]


@pytest.mark.parametrize("protocol", ["SASL_PLAINTEXT", "SASL_SSL"])
@pytest.mark.parametrize("mechanism", ["PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512"])
def test_a_secured_broker_knows_its_user(
    secured: Broker, protocol: Protocol, mechanism: str
) -> None:
    right = secured_client(secured, protocol, {"sasl.mechanism": mechanism})
    assert [m.value() for m in right.read_committed("greetings")] == [b"hello"]
    wrong = secured_client(
        secured, protocol, {"sasl.mechanism": mechanism, "sasl.password": "a guess"}
    )
    with pytest.raises(KafkaException):
        wrong.admin().list_topics(timeout=3)


def test_a_secured_broker_takes_a_client_by_its_certificate(secured: Broker) -> None:
    assert secured.certificates is not None
    client = secured_client(
        secured,
        "SSL",
        {
            "ssl.certificate.location": str(secured.certificates.client),
            "ssl.key.location": str(secured.certificates.client_key),
            "ssl.key.password": secured.certificates.password,
        },
    )
    assert [m.value() for m in client.read_committed("greetings")] == [b"hello"]


def test_a_client_that_does_not_trust_the_authority_refuses_the_broker(secured: Broker) -> None:
    strangers = Kafka(secured.addresses["SSL"], {"security.protocol": "SSL", "log_level": "0"})
    with pytest.raises(KafkaException):
        strangers.admin().list_topics(timeout=3)


def secured_client(broker: Broker, protocol: Protocol, options: dict[str, str]) -> Kafka:
    assert broker.certificates is not None
    return Kafka(
        broker.addresses[protocol],
        {
            "security.protocol": protocol,
            "ssl.ca.location": str(broker.certificates.ca),
            "sasl.username": USER,
            "sasl.password": PASSWORD,
            "log_level": "0",
            **options,
        },
    )
