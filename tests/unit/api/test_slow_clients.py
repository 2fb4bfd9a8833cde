"""Clients that do not read: bounded in bytes, followers also in number, and told and dropped."""

import selectors
import socket
import statistics
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import httpx
import pytest

from api.runtime import Runtime
from tests.kafka.java import await_true
from tests.unit.api.conftest import ORDERS, make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.listening import Address, rest, served, unread
from tests.unit.api.orders import order

FEED = "/v1/views/listed/changes"
FOLLOWERS = 200
ROWS = 20_000
WIDE = "x" * 200
SECONDS = 1.0
MOST_BYTES = 1 << 20


def resident() -> int:
    """The bytes of memory that this process holds."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


class Service:
    """A service that listens and has a view of wide rows."""

    def __init__(self, runtime: Runtime, address: Address) -> None:
        self.runtime = runtime
        self.address = address
        self.client = httpx.Client(base_url=f"http://{address[0]}:{address[1]}", timeout=30)
        self.pipeline = cast(DirectPipeline, cast(Any, runtime.pipeline))
        self.client.put("/v1/sources/orders", json=ORDERS).raise_for_status()
        query = "SELECT id, customer FROM orders"
        self.client.put("/v1/views/listed", json={"query": query}).raise_for_status()

    def fill(self, first: int, end: int) -> None:
        rows = [(order(1, f"{WIDE}{i}", "1") | {"id": i}, 1) for i in range(first, end)]
        self.pipeline.deliver("orders", *rows)

    def metric(self, name: str) -> float:
        lines = self.client.get("/metrics").text.splitlines()
        return float(next(line.split()[1] for line in lines if line.startswith(f"{name} ")))

    def look_up(self, key: int) -> float:
        """The seconds that a look-up takes."""
        begun = time.perf_counter()
        self.client.get("/v1/views/listed/rows", params={"id": key}).raise_for_status()
        return time.perf_counter() - begun


@pytest.fixture
def service(tmp_path: Path) -> Iterator[Service]:
    settings = {"send_seconds": SECONDS, "max_followers_per_client": FOLLOWERS}
    runtime = make_runtime(tmp_path, **settings)
    with served(runtime) as address:
        yield Service(runtime, address)


def test_followers_that_never_read_hold_little_and_hold_nobody_up(service: Service) -> None:
    service.fill(0, ROWS)
    for key in range(20):
        service.look_up(key)
    before = resident()
    connections = [unread(service.address, FEED) for _ in range(FOLLOWERS)]
    seconds, held, key = [], 0, ROWS
    await_true("all", lambda: service.metric("ivm_followers") > 0)
    while service.metric("ivm_followers"):
        service.fill(key, key + 1)
        seconds.append(service.look_up(key))
        held = max(held, resident() - before)
        key += 1
    for connection in connections:
        connection.close()
    assert held < FOLLOWERS * MOST_BYTES
    assert statistics.median(seconds) < 0.05
    assert resident() - before < FOLLOWERS * MOST_BYTES / 4


def test_followers_that_read_no_changes_hold_little_and_do_not_hold_the_pipeline(
    service: Service,
) -> None:
    path = f"{FEED}?snapshot=false"
    connections = [unread(service.address, path) for _ in range(FOLLOWERS)]
    await_true("all", lambda: service.metric("ivm_followers") == FOLLOWERS)
    before, held = resident(), 0
    for first in range(0, ROWS, 1_000):
        service.fill(first, first + 1_000)
        service.look_up(first)
        held = max(held, resident() - before)
    for connection in connections:
        connection.close()
    assert held < FOLLOWERS * MOST_BYTES


def test_large_answers_that_nobody_reads_hold_little_and_hold_nobody_up(service: Service) -> None:
    service.fill(0, ROWS)
    for key in range(20):
        service.look_up(key)
    before = resident()
    path = f"/v1/views/listed/rows?scan=true&limit={ROWS}"
    connections = [unread(service.address, path) for _ in range(FOLLOWERS)]
    seconds, held, answered = [], 0, 0
    # `select` itself takes no high descriptors, and other tests have files open, too.
    with selectors.DefaultSelector() as selector:
        for connection in connections:
            selector.register(connection, selectors.EVENT_READ)
        while answered < FOLLOWERS:
            seconds.append(service.look_up(7))
            held = max(held, resident() - before)
            answered = len(selector.select(0))
    for connection in connections:
        connection.close()
    assert held < FOLLOWERS * MOST_BYTES
    assert statistics.median(seconds) < 0.05


def test_a_large_answer_is_whole(service: Service) -> None:
    service.fill(0, ROWS)
    path = "/v1/views/listed/rows"
    answer = service.client.get(path, params={"scan": "true", "limit": 10_000})
    assert int(answer.headers["content-length"]) == len(answer.content) > 2_000_000
    assert [row["id"] for row in answer.json()["rows"]] == list(range(10_000))
    again = service.client.get(
        path,
        params={"scan": "true", "limit": 10_000},
        headers={"if-none-match": answer.headers["etag"]},
    )
    assert again.status_code == 304


def test_a_follower_that_takes_nothing_is_told_so_at_the_end_of_what_it_has(
    service: Service,
) -> None:
    service.fill(0, ROWS)
    with unread(service.address, FEED) as connection:
        await_true("dropped", lambda: service.metric("ivm_followers_dropped_total") == 1)
        told = rest(connection)
    assert b"event: snapshot" in told
    [end] = [line for line in told.split(b"\r\n") if line.startswith(b'data: {"detail"')]
    assert b"took nothing for 1 s" in end
    assert told.endswith(b"0\r\n\r\n")


def test_a_follower_that_takes_nothing_after_that_is_disconnected(service: Service) -> None:
    service.fill(0, ROWS)
    with unread(service.address, FEED):
        await_true("dropped", lambda: service.metric("ivm_followers_dropped_total") == 1)
        await_true("gone", lambda: service.metric("ivm_followers") == 0, 20)


def test_a_follower_that_reads_slowly_gets_everything(service: Service) -> None:
    service.fill(0, ROWS)
    found = bytearray()
    with unread(service.address, FEED, 1 << 16) as connection:
        connection.settimeout(30)
        while not (b"id: 1\r\n" in found and found.endswith(b"\r\n\r\n\r\n")):
            found += connection.recv(1 << 18)
            time.sleep(0.01)
    assert found.count(b'"id":') == ROWS


@pytest.mark.parametrize("limit", ["max_followers", "max_followers_per_client"])
def test_there_are_as_many_followers_as_the_operator_allows(tmp_path: Path, limit: str) -> None:
    runtime = make_runtime(tmp_path, **{limit: 2})
    with served(runtime) as address:
        service = Service(runtime, address)
        connections = [unread(address, FEED) for _ in range(2)]
        await_true("two", lambda: service.metric("ivm_followers") == 2)
        refused = service.client.get(FEED)
        assert (refused.status_code, refused.json()["code"]) == (429, "too-many-followers")
        assert f"{limit} allows no more" in refused.json()["detail"]
        assert "retry-after" in refused.headers
        connections.pop().close()
        await_true("one", lambda: service.metric("ivm_followers") == 1)
        with service.client.stream("GET", FEED) as accepted:
            assert accepted.status_code == 200
        for connection in connections:
            connection.close()


def test_the_followers_of_one_client_leave_room_for_another(tmp_path: Path) -> None:
    runtime = make_runtime(tmp_path, max_followers_per_client=1)
    with served(runtime) as address:
        service = Service(runtime, address)
        with unread(address, FEED), unread(address, FEED, host="127.0.0.2"):
            await_true("two", lambda: service.metric("ivm_followers") == 2)


@pytest.mark.parametrize(
    "begun",
    [
        b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n",
        b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nx: ",
        b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\ntransfer-encoding: chunked\r\n\r\n0\r\nx: ",
    ],
    ids=["headers", "header", "trailer"],
)
def test_what_a_request_never_ends_is_refused_once_it_is_long(
    service: Service, begun: bytes
) -> None:
    more = b"y: y\r\n" * 200 if begun.endswith(b"\r\n") else b"y" * 1_200
    with socket.create_connection(service.address, timeout=30) as connection:
        connection.sendall(begun)
        with suppress(ConnectionError):
            for _ in range(10_000):
                connection.sendall(more)
        assert connection.recv(1 << 16).startswith(b"HTTP/1.1 400 ")


def test_requests_far_ahead_of_their_answers_are_refused(service: Service) -> None:
    asked = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    with socket.create_connection(service.address, timeout=30) as connection:
        connection.sendall(asked * 5_000)
        assert b"HTTP/1.1 400 " in rest(connection)


def test_requests_that_are_sent_ahead_are_answered_in_turn(service: Service) -> None:
    asked = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\n\r\n"
    last = b"GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n"
    with socket.create_connection(service.address, timeout=30) as connection:
        connection.sendall(asked * 20 + last)
        assert rest(connection).count(b"HTTP/1.1 200 ") == 21


def test_a_body_in_small_parts_may_be_larger_than_a_head(service: Service) -> None:
    body = b'{"query": "SELECT 1 AS a' + b" " * 20_000 + b'"}'
    parts = b"".join(b"1\r\n%c\r\n" % byte for byte in body) + b"0\r\n\r\n"
    with socket.create_connection(service.address, timeout=30) as connection:
        connection.sendall(
            b"POST /v1/query HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
            b"transfer-encoding: chunked\r\nconnection: close\r\n\r\n" + parts
        )
        assert rest(connection).startswith(b"HTTP/1.1 200 ")
