"""The profile `cluster` of the compose file: shards on two workers, one of which is cut off."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from ivm_client.errors import ClientError
from tests.containers.podman import Podman
from tests.containers.stack import Stack
from tests.kafka.java import await_true

CLUSTER = {"shards": 2, "host": "ivm", "lost_seconds": 5, "wait_seconds": 30}
VARIABLES = {"IVM_SPARK_MASTER": "spark://master:7077", "IVM_CLUSTER": json.dumps(CLUSTER)}
PEOPLE = {
    "connector": "http",
    "columns": [
        {"name": "id", "type": "int64", "nullable": False},
        {"name": "city", "type": "utf8", "nullable": False},
    ],
    "key": ["id"],
}
BY_CITY = "SELECT city, count(*) AS people FROM people GROUP BY city"


@pytest.fixture(scope="module")
def cluster(image: Podman) -> Iterator[Stack]:
    """The service with Spark's master and two workers."""
    stack = Stack(image, "cluster", project="ivm-cluster", variables=VARIABLES)
    stack.down("--volumes")
    try:
        stack.up("master", "worker1", "worker2", "ivm")
        stack.client.put("/v1/sources/people", PEOPLE)
        stack.client.put("/v1/views/by_city", {"query": BY_CITY})
        yield stack
    finally:
        stack.down("--volumes")
        stack.client.close()


def post(stack: Stack, first: int, count: int) -> None:
    """Write so many people, and wait until they are reflected."""
    rows = [{"id": first + n, "city": f"city {n % 10}"} for n in range(count)]
    answer = stack.client.post("/v1/sources/people/rows", rows)
    await_true("they are reflected", lambda: is_reflected(stack, answer["at_least"]))


def is_reflected(stack: Stack, offset: str) -> bool:
    """Whether the view reflects the people before an offset, or does so within a look-up's time."""
    try:
        looked_up(stack, at_least=offset)
    except ClientError:
        return False
    return True


def looked_up(stack: Stack, **more: Any) -> dict[str, int]:
    """How many people are in each city."""
    rows = stack.client.get("/v1/views/by_city/rows", scan="true", **more)["rows"]
    return {row["city"]: row["people"] for row in rows}


def hosts(stack: Stack) -> list[str]:
    """The host of each shard; none while there is no cluster."""
    try:
        return [shard["host"] for shard in stack.client.get("/v1/cluster")["shards"]]
    except ClientError:
        return []


def test_each_worker_has_a_shard(cluster: Stack) -> None:
    post(cluster, 0, 100)
    assert len(set(hosts(cluster))) == 2
    assert looked_up(cluster) == {f"city {n}": 10 for n in range(10)}


def test_a_worker_that_is_cut_off_the_network_is_given_up_and_nothing_is_lost(
    cluster: Stack, image: Podman
) -> None:
    network, worker = f"{cluster.project}_default", cluster.container("worker1")
    image.run("podman", "network", "disconnect", network, worker)
    try:
        await_true("one shard", lambda: len(hosts(cluster)) == 1)
        cluster.await_healthy("ivm")
        post(cluster, 100, 100)
        assert looked_up(cluster) == {f"city {n}": 20 for n in range(10)}
    finally:
        image.run("podman", "network", "connect", network, worker)
