"""A change in PostgreSQL becomes a delta in Kafka, whatever container is stopped in between."""

from collections import Counter
from itertools import count

import httpx
import orjson
import pytest
from confluent_kafka import KafkaException
from psycopg import OperationalError

from ivm_client.errors import ClientError
from tests.containers.images import SERVICE
from tests.containers.podman import Podman
from tests.containers.stack import Stack
from tests.kafka.java import await_true

NEXT = "localhost/ivm:next"
REVENUE = """
    SELECT c.city, count(*)::int, sum(o.amount)::text
    FROM orders AS o JOIN customers AS c ON o.customer_id = c.id GROUP BY c.city
"""
Rows = Counter[tuple[object, ...]]
numbers = count(1000)


def order(stack: Stack) -> None:
    """Insert an order of a city's, and delete another one's."""
    number = next(numbers)
    with stack.database() as database:
        database.execute("INSERT INTO orders VALUES (%s, %s, 1.25)", (number, number % 3 + 1))
        database.execute("DELETE FROM orders WHERE id = %s", (number - 3,))


def await_revenue(stack: Stack) -> None:
    """Wait until the view is PostgreSQL's answer, by look-ups and by the sum of its topic."""
    found: dict[str, Rows] = {}

    def agree() -> bool:
        try:
            found["database"] = revenue(stack)
            found["look-ups"] = looked_up(stack)
            found["topic"] = Counter({row: n for row, n in folded(stack).items() if n})
        except (ClientError, KafkaException, OperationalError):  # it is about to start
            return False
        return found["database"] == found["look-ups"] == found["topic"]

    try:
        await_true("the revenue", agree)
    except TimeoutError as error:
        raise TimeoutError(f"{error}: {found}") from error


def revenue(stack: Stack) -> Rows:
    with stack.database() as database:
        return Counter(database.execute(REVENUE.encode()))


def looked_up(stack: Stack) -> Rows:
    rows = stack.client.get("/v1/views/revenue/rows", scan="true")["rows"]
    return Counter(tuple(row.values()) for row in rows)


def folded(stack: Stack) -> Rows:
    rows: Rows = Counter()
    for message in stack.kafka.read_committed("revenue"):
        delta = orjson.loads(message.value() or b"{}")
        if "row" in delta:
            rows[tuple(delta["row"].values())] += delta["diff"]
    return rows


def test_a_change_in_the_database_becomes_a_delta(stack: Stack) -> None:
    order(stack)
    await_revenue(stack)


@pytest.mark.parametrize("service", ["ivm", "broker", "registry", "postgres", "connect"])
def test_what_changes_around_a_restart_arrives_once(
    stack: Stack, image: Podman, service: str
) -> None:
    order(stack)
    image("restart", "--time", "60", stack.container(service))
    stack.await_healthy(service)
    order(stack)
    await_revenue(stack)


def test_what_changes_around_a_kill_of_the_service_arrives_once(
    stack: Stack, image: Podman
) -> None:
    order(stack)
    image("kill", stack.container("ivm"))
    order(stack)
    image("start", stack.container("ivm"))
    await_revenue(stack)


def test_volumes_outlive_their_containers(stack: Stack) -> None:
    order(stack)
    await_revenue(stack)
    stack.down()
    stack.up("broker", "postgres", "registry", "ivm")
    stack.up("connect", "prometheus")
    order(stack)
    await_revenue(stack)


def test_another_image_of_the_service_goes_on_from_its_volume(stack: Stack, image: Podman) -> None:
    image("tag", SERVICE, NEXT)
    image("rm", "--force", stack.container("shop"))  # podman keeps what another one depends on
    order(stack)
    stack.compose(
        "up", "--detach", "--no-build", "--no-deps", "--force-recreate", "ivm", image=NEXT
    )
    stack.await_healthy("ivm")
    assert image.inspected(stack.container("ivm"))["ImageName"] == NEXT
    order(stack)
    await_revenue(stack)


def test_prometheus_reads_the_service(stack: Stack) -> None:
    def ready() -> object:
        try:
            return asked(stack, 'ivm_ready{job="ivm"}')
        except httpx.TransportError:
            return None

    await_true("ivm_ready", lambda: ready() == ["1"])


def asked(stack: Stack, query: str) -> list[str]:
    """The values that Prometheus has for a query now."""
    url = f"http://127.0.0.1:{stack.ports['PROMETHEUS']}/api/v1/query"
    result = httpx.get(url, params={"query": query}).raise_for_status().json()["data"]["result"]
    return [each["value"][1] for each in result]
