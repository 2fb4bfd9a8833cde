"""What a cluster says of the offsets of a topic."""

import uuid

from connectors.connections import Connection
from connectors.kafka.topics import Cluster
from tests.kafka.client import Kafka

PARTITIONS = 8


def test_a_topic_that_was_made_a_moment_ago_is_waited_for(kafka: Kafka) -> None:
    cluster = Cluster(Connection(name="main", bootstrap_servers=kafka.address))
    for _ in range(20):
        topic = f"new-{uuid.uuid4()}"
        kafka.create_topic(topic, partitions=PARTITIONS)
        nothing = {(topic, partition): 0 for partition in range(PARTITIONS)}
        assert cluster.ends(nothing) == cluster.firsts(nothing) == nothing
