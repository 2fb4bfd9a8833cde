"""Feeds: every time whole and once, whatever happens to the connection."""

import asyncio
import threading

import pytest

from ivm_client import Batch, Client, Folded, Problem
from ivm_client.errors import FeedEnded
from tests.unit.client.conftest import Listening


def add(client: Client, listening: Listening, number: int, customer: str = "ada") -> None:
    client.write("orders", [{"id": number, "customer": customer, "amount": 1}])
    listening.pipeline.step()


def counts(batch: Batch) -> list[tuple[str, int, int]]:
    return sorted((row["customer"], row["orders"], diff) for row, diff in batch)


def test_a_feed_begins_with_the_rows_and_goes_on_with_changes(
    client: Client, listening: Listening
) -> None:
    add(client, listening, 1)
    feed = client.follow("totals")
    first = next(feed)
    assert (first.is_snapshot, counts(first)) == (True, [("ada", 1, 1)])
    add(client, listening, 2)
    second = next(feed)
    assert (second.is_snapshot, counts(second)) == (False, [("ada", 1, -1), ("ada", 2, 1)])
    assert feed.time == second.time == first.time + 1


def test_a_feed_goes_on_after_a_time(client: Client, listening: Listening) -> None:
    for number in range(1, 5):
        add(client, listening, number)
    feed = client.follow("totals", since=2)
    assert [next(feed).time for _ in range(2)] == [3, 4]


def test_a_feed_of_values_has_their_rows_alone(client: Client, listening: Listening) -> None:
    add(client, listening, 1, "ada")
    add(client, listening, 2, "bob")
    assert counts(next(client.follow("totals", customer="bob"))) == [("bob", 1, 1)]


def test_a_feed_outlives_the_service(client: Client, listening: Listening) -> None:
    add(client, listening, 1)
    feed = client.follow("totals")
    assert counts(next(feed)) == [("ada", 1, 1)]
    listening.stop()
    starting = threading.Timer(0.5, listening.start)
    starting.start()

    def add_then() -> None:
        starting.join()
        add(client, listening, 2)

    adding = threading.Thread(target=add_then)
    adding.start()
    found = next(batch for batch in feed if len(batch))
    adding.join()
    assert (found.is_snapshot, counts(found)) == (False, [("ada", 1, -1), ("ada", 2, 1)])


def test_a_feed_outlives_the_name_of_its_view_and_then_the_service(
    client: Client, listening: Listening
) -> None:
    add(client, listening, 1)
    feed = client.follow("totals")
    next(feed)
    client.service.post("/v1/views/totals/rename", {"to": "spent"})
    add(client, listening, 2)
    assert (counts(next(feed)), feed.view) == ([("ada", 1, -1), ("ada", 2, 1)], "spent")
    listening.stop()
    listening.start()
    add(client, listening, 3)
    found = next(batch for batch in feed if len(batch))
    assert counts(found) == [("ada", 2, -1), ("ada", 3, 1)]


def test_a_feed_ends_with_its_view(client: Client, listening: Listening) -> None:
    feed = client.follow("totals")
    next(feed)
    client.drop_view("totals")
    with pytest.raises(FeedEnded, match="'totals' has ended"):
        next(feed)


def test_a_feed_is_followed_beside_other_tasks(client: Client, listening: Listening) -> None:
    add(client, listening, 1)

    async def followed() -> list[list[tuple[str, int, int]]]:
        found = []
        async for batch in client.follow("totals"):
            found.append(counts(batch))
            if len(found) == 2:
                return found
            await asyncio.to_thread(add, client, listening, 2)
        return found

    assert asyncio.run(followed()) == [[("ada", 1, 1)], [("ada", 1, -1), ("ada", 2, 1)]]


@pytest.mark.parametrize("key", [["customer"], None])
def test_changes_fold_into_the_rows(
    client: Client, listening: Listening, key: list[str] | None
) -> None:
    folded, feed = Folded(key), client.follow("totals")
    for number in range(5):
        folded.take_batch(next(feed))
        add(client, listening, number, "ab"[number % 2])
    folded.take_batch(next(feed))
    assert sorted((row["customer"], row["orders"]) for row in folded.rows) == [("a", 3), ("b", 2)]
    assert folded.time == 5


def test_a_time_that_is_not_complete_is_not_folded() -> None:
    folded = Folded()
    folded.take_all([b'{"op":"+","diff":2,"time":7,"row":{"a":1}}'])
    assert (folded.time, folded.rows) == (-1, [])
    folded.take_all([b'{"frontier":7}'])
    assert (folded.time, folded.rows) == (7, [{"a": 1}, {"a": 1}])


# --- parts of a view ---

CUSTOMERS = [f"c{number}" for number in range(40)]


def test_parts_share_the_rows_and_their_changes_by_the_key(
    client: Client, listening: Listening
) -> None:
    rows = [{"id": n, "customer": name, "amount": 1} for n, name in enumerate(CUSTOMERS)]
    client.write("orders", rows)
    listening.pipeline.step()
    feeds = [client.follow("totals", part=(number, 3)) for number in range(3)]
    shares = [{row["customer"] for row, _ in next(feed)} for feed in feeds]
    assert sorted(name for share in shares for name in share) == sorted(CUSTOMERS)
    assert all(shares)
    add(client, listening, 100, CUSTOMERS[0])
    later = [counts(next(feed)) for feed in feeds]
    changed = [(CUSTOMERS[0], 1, -1), (CUSTOMERS[0], 2, 1)]
    assert later == [changed if CUSTOMERS[0] in share else [] for share in shares]


@pytest.mark.parametrize("part", [(3, 3), (-1, 3), (0, 0), (0, 1025)])
def test_a_part_that_there_is_not_is_refused(client: Client, part: tuple[int, int]) -> None:
    with pytest.raises(Problem, match="write it as 0/4, the first of four parts") as refused:
        next(client.follow("totals", part=part))
    assert refused.value.code == "bad-parameter"
