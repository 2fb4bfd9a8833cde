"""A service whose shards are tasks of Spark serves its users as one in a single process does."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.demo.ports import free_ports
from api.demo.service import Service
from ivm_client.client import Client
from tests.kafka.java import await_true

pytestmark = pytest.mark.jvm

SETTINGS = {"IVM_SPARK_MASTER": "local[3]", "IVM_CLUSTER": json.dumps({"shards": 2})}
CITIES = 7
PEOPLE = 700
BY_CITY = "SELECT city, count(*) AS people, sum(age) AS years FROM people GROUP BY city"
KNOWN = """
    WITH MUTUALLY RECURSIVE reached(id bigint) AS (
      SELECT 0::bigint UNION SELECT f.friend FROM friends f JOIN reached r ON f.id = r.id)
    SELECT id FROM reached
"""


@contextmanager
def started(data: Path, settings: Mapping[str, str]) -> Iterator[Service]:
    """A service of these settings, once it answers."""
    service = Service(data, free_ports(1)[0], settings)
    service.start()
    try:
        service.wait_alive()
        yield service
    finally:
        service.stop()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    """A service with two shards beside one slot that reads."""
    with started(tmp_path_factory.mktemp("data"), SETTINGS) as service:
        service.wait_ready()
        yield service


@pytest.fixture(scope="module")
def client(service: Service) -> Iterator[Client]:
    """Its client, with people of some cities, a chain of friends, and views of both."""
    with Client(service.url) as client:
        client.create_table("people", {"id": "bigint", "city": "text", "age": "int"}, ["id"])
        client.create_table("friends", {"id": "bigint", "friend": "bigint"}, ["id"])
        client.create_view("by_city", BY_CITY, ["city"])
        client.create_view("known", KNOWN, ["id"])
        people = [person(number) for number in range(PEOPLE)]
        client.wait("by_city", client.write("people", people).at_least or ())
        friends = [{"id": number, "friend": number + 1} for number in range(50)]
        client.wait("known", client.write("friends", friends).at_least or ())
        yield client


def person(number: int) -> dict[str, Any]:
    return {"id": number, "city": f"city {number % CITIES}", "age": number % 90}


def test_views_and_recursions_are_looked_up(client: Client) -> None:
    [found] = client.lookup("by_city", city="city 3")
    ages = [number % 90 for number in range(3, PEOPLE, CITIES)]
    assert found == {"city": "city 3", "people": len(ages), "years": sum(ages)}
    assert [client.lookup("known", id=number) for number in (50, 51)] == [[{"id": 50}], []]


def test_tasks_bring_rows_to_the_shards_that_own_them(client: Client) -> None:
    received = [share["received_rows"] for share in client.cluster()]
    assert sum(received) == PEOPLE + 50
    assert min(received) > PEOPLE / 3


def test_a_query_is_answered_over_one_time(client: Client) -> None:
    found = client.query("SELECT count(*) AS n, sum(people) AS all_people FROM by_city")
    assert found.table.to_pylist() == [{"n": CITIES, "all_people": PEOPLE}]


def test_a_feed_begins_with_a_snapshot_and_goes_on(client: Client) -> None:
    rows: Counter[tuple[str, int]] = Counter()
    feed = client.follow("by_city")
    written = False
    for batch in feed:
        for row, diff in batch:
            rows[row["city"], row["people"]] += diff
        if not written:
            client.write("people", [{"id": PEOPLE, "city": "city 0", "age": 1}])
            written = True
        elif rows[("city 0", PEOPLE // CITIES + 1)] == 1:
            break
    feed.close()
    assert rows[("city 0", PEOPLE // CITIES)] == 0


def test_a_view_is_replaced_by_its_difference(client: Client) -> None:
    client.create_view("old", "SELECT id FROM people WHERE age > 80", ["id"])
    client.replace_view("old", "SELECT id FROM people WHERE age > 70", ["id"])
    await_true("the preview", lambda: client.replacement("old")["status"] == "ready")
    client.approve("old", client.replacement("old")["version"])
    expected = sum(number % 90 > 70 for number in range(PEOPLE))
    assert client.query("SELECT count(*) AS n FROM old").table.to_pylist() == [{"n": expected}]


def test_what_a_view_costs_is_that_of_both_shards(client: Client) -> None:
    operators = client.operators("by_city")["operators"]
    assert max(each["rows"] or 0 for each in operators) >= CITIES
    shards = client.cluster()
    assert [shard["shard"] for shard in shards] == [0, 1]
    assert all(shard["records"] > PEOPLE / 4 and shard["meetings"] > 0 for shard in shards)
    [info] = [i for i in client.arrangements() if i["name"] == "people[id]"]
    assert info["records"] >= PEOPLE


def test_metrics_are_by_shard(client: Client) -> None:
    text = httpx.get(f"{client.url}/metrics").text
    assert 'ivm_shard_records{host="' in text
    assert 'shard="1"' in text


def test_a_restart_goes_on_from_the_checkpoint(client: Client, service: Service) -> None:
    before = client.query("SELECT * FROM by_city ORDER BY city").table
    service.kill()
    service.start()
    service.wait_ready()
    assert client.query("SELECT * FROM by_city ORDER BY city").table == before


def test_a_shard_over_its_limit_stops_the_input_until_a_start_with_a_higher_one(
    tmp_path: Path,
) -> None:
    settings = {**SETTINGS, "IVM_MAX_PROCESS_BYTES": "1"}
    with started(tmp_path, settings) as service, Client(service.url) as client:
        client.create_table("people", {"id": "bigint", "city": "text", "age": "int"}, ["id"])
        client.create_view("by_city", BY_CITY, ["city"])
        client.write("people", [person(1)])
        await_true(
            "the shard is named", lambda: "max_process_bytes allows 1" in ready(service).text
        )
        assert ready(service).json()["faults"][0]["setting"] == "max_process_bytes"
        assert client.lookup("by_city", city="city 1") == []
    with started(tmp_path, SETTINGS) as service, Client(service.url) as client:
        service.wait_ready()
        await_true("the row", lambda: client.lookup("by_city", city="city 1") != [])


def ready(service: Service) -> httpx.Response:
    """The answer of `/readyz`."""
    return httpx.get(f"{service.url}/readyz")


def test_the_log_says_where_shards_are(service: Service) -> None:
    events = [json.loads(line) for line in Path(service.log).read_bytes().splitlines()]
    told = [event for event in events if event["event"] == "cluster"]
    assert [event["shards"] for event in told] == [2] * len(told)
    assert told
