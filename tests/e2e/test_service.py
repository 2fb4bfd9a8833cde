"""The service as a process with real Spark: records in, look-ups, deltas and events out."""

import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import orjson
import pytest

from api.demo.ports import free_ports
from api.demo.service import Service, descendants
from connectors.files.writer import TopicWriter
from ivm_client.errors import Unreachable
from ivm_client.service import ServiceClient
from tests.kafka.java import await_true

pytestmark = pytest.mark.jvm

PEOPLE = {
    "columns": [
        {"name": "id", "type": "int64"},
        {"name": "city", "type": "utf8", "nullable": False},
    ],
    "key": ["id"],
    "replica_identity": "full",
    "on_error": "quarantine",
}
BY_CITY = "SELECT city, count(*) AS people FROM {table} GROUP BY city"


class Running:
    """A service, its client, and its topics."""

    def __init__(self, data: Path) -> None:
        self.topics = data / "topics"
        self.service = Service(data, free_ports(1)[0])
        self.client = ServiceClient(self.service.url)
        self.service.start()
        self.service.wait_ready()

    def declare(self, table: str, **more: str) -> TopicWriter:
        """A table of people with a view by city, and the writer of its topic."""
        self.client.put(f"/v1/sources/{table}", {**PEOPLE, **more})
        self.client.put(f"/v1/views/{table}_by_city", {"query": BY_CITY.format(table=table)})
        return TopicWriter(self.topics, table)

    def stall(self, source: str) -> str:
        """What `/readyz` says once a source stands still."""
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for fault in httpx.get(f"{self.service.url}/readyz").json().get("stalled", []):
                if fault["part"] == f"source {source}":
                    return str(fault["detail"])
            time.sleep(0.1)
        raise TimeoutError(f"{source!r} does not stand still within a minute")

    def rows(self, table: str, offset: int) -> list[dict[str, Any]]:
        """The view of `table` once the record at `offset` is reflected."""
        found: list[dict[str, Any]] = self.client.get(
            f"/v1/views/{table}_by_city/rows", scan="true", at_least=f"{table}:0:{offset}"
        )["rows"]
        return found

    def folded(self, table: str) -> Counter[tuple[str, int]]:
        """The sum of the deltas of the view of `table`, as far as the topic goes."""
        rows: Counter[tuple[str, int]] = Counter()
        for segment in sorted((self.topics / f"deltas.{table}_by_city").glob("*/*.jsonl")):
            for line in map(orjson.loads, segment.read_bytes().splitlines()):
                if "row" in line:
                    rows[line["row"]["city"], line["row"]["people"]] += line["diff"]
        return Counter({row: count for row, count in rows.items() if count})


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    data = Path(tempfile.mkdtemp(prefix="ivm-test-"))
    running = Running(data)
    yield running
    running.client.close()
    running.service.stop()
    shutil.rmtree(data)


def person(op: str, number: int, city: str) -> bytes:
    row = {"id": number, "city": city}
    before, after = (row, None) if op == "d" else (None, row)
    stamp = time.time_ns() // 1_000_000
    return orjson.dumps({"op": op, "before": before, "after": after, "ts_ms": stamp})


def test_a_log_that_is_no_terminals_is_lines_of_json(running: Running) -> None:
    events = [orjson.loads(line) for line in running.service.log.read_bytes().splitlines()]
    [listening] = [event for event in events if event["event"] == "listening"]
    assert listening["url"] == running.service.url
    assert f"{running.service.url}/docs" in listening["next"]
    assert any(event.get("logger") == "spark" for event in events)


def test_changes_become_rows_and_deltas(running: Running) -> None:
    people = running.declare("people")
    people.append([person("c", 1, "rome"), person("c", 2, "rome"), person("c", 3, "oslo")])
    people.append([person("d", 3, "oslo")])
    assert running.rows("people", 3) == [{"city": "rome", "people": 2}]
    assert running.folded("people") == {("rome", 2): 1}


def test_a_view_waits_for_its_own_source_where_another_has_read_the_topic_before(
    running: Running,
) -> None:
    running.declare("early").append([person("c", number, "rome") for number in range(50)])
    running.rows("early", 49)
    running.declare("later", topic="early")
    answer = running.client.get("/v1/views/later_by_city/rows", scan="true", at_least="early:0:49")
    assert answer["rows"] == [{"city": "rome", "people": 50}]
    assert answer["sources"]["later"] == {"0": 50}
    running.service.wait_ready()
    assert running.client.get("/v1/sources/later")["caught_up"] is True


def test_posted_rows_are_in_a_view_of_them(running: Running) -> None:
    columns = [{"name": "id", "type": "bigint"}, {"name": "city", "type": "text"}]
    callers = {"connector": "http", "columns": columns, "key": ["id"]}
    running.client.put("/v1/sources/callers", callers)
    query = {"query": "SELECT city, count(*) AS people FROM callers GROUP BY city"}
    running.client.put("/v1/views/callers_by_city", query)
    rows = [{"id": 1, "city": "rome"}, {"id": 2, "city": "rome"}, {"id": 1, "city": "oslo"}]
    written = running.client.post("/v1/sources/callers/rows", rows)
    offset = int(written["at_least"].rpartition(":")[2])
    found = sorted(running.rows("callers", offset), key=lambda row: row["city"])
    assert found == [{"city": "oslo", "people": 1}, {"city": "rome", "people": 1}]


def test_bad_records_are_put_aside_and_counted_and_nothing_else_is_lost(running: Running) -> None:
    people = running.declare("strangers")
    bad = [b"not json", b'{"op":"z"}', person("c", 2**63, "far"), b'{"op":"c","after":{"id":1}}']
    people.append([person("c", 1, "rome"), *bad, person("c", 2, "rome")])
    assert running.rows("strangers", 5) == [{"city": "rome", "people": 2}]
    records = running.client.get("/v1/quarantine", table="strangers")["records"]
    assert [(r["offset"], r["value"].encode()) for r in records] == list(enumerate(bad, start=1))
    metrics = running.client.text("/metrics").splitlines()
    counted = [m for m in metrics if m.startswith("ivm_quarantined{") and '"strangers"' in m]
    assert sum(float(m.split()[-1]) for m in counted) == len(bad)


def test_events_follow_the_view(running: Running) -> None:
    people = running.declare("guests")
    people.append([person("c", 1, "rome")])
    running.rows("guests", 0)
    url = f"{running.service.url}/v1/views/guests_by_city/changes"
    with httpx.stream("GET", url, timeout=30) as response:
        lines = response.iter_lines()
        snapshot = next_data(lines)
        people.append([person("c", 2, "rome")])
        change = next_data(lines)
    assert snapshot["rows"] == [{"city": "rome", "people": 1}]
    assert sorted((d["op"], d["row"]["people"]) for d in change["deltas"]) == [("+", 2), ("-", 1)]
    assert change["offsets"]["guests"] == {"0": 2}


def next_data(lines: Iterator[str]) -> dict[str, Any]:
    found: dict[str, Any] = next(
        orjson.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")
    )
    return found


def test_a_view_made_while_data_flows_has_what_came_before(running: Running) -> None:
    people = running.declare("late")
    people.append([person("c", number, "rome") for number in range(500)])
    running.rows("late", 499)
    query = "SELECT city, max(id) AS newest FROM late GROUP BY city"
    running.client.put("/v1/views/newest", {"query": query})
    people.append([person("c", 900, "rome")])
    rows = running.client.get("/v1/views/newest/rows", city="rome", at_least="late:0:500")["rows"]
    assert rows == [{"city": "rome", "newest": 900}]


def test_a_stall_tells_the_record_and_ends_when_it_may_be_put_aside(running: Running) -> None:
    careful = running.declare("careful", on_error="stall")
    careful.append([person("c", 1, "rome"), b"not json", person("c", 2, "rome")])
    assert "'careful', partition 0, offset 1" in running.stall("careful")
    running.client.put("/v1/sources/careful", {**PEOPLE, "on_error": "quarantine"})
    assert running.rows("careful", 2) == [{"city": "rome", "people": 2}]


def test_a_kill_loses_nothing_and_publishes_nothing_twice(running: Running) -> None:
    people = running.declare("survivors")
    people.append([person("c", number, f"city {number % 7}") for number in range(1_000)])
    running.rows("survivors", 999)
    people.append([person("c", number, f"city {number % 7}") for number in range(1_000, 5_000)])
    running.service.kill()
    people.append([person("d", number, f"city {number % 7}") for number in range(100)])
    with pytest.raises(Unreachable):
        running.client.get("/healthz")
    running.service.start()
    running.service.wait_ready()
    rows = running.rows("survivors", 5_099)
    expected = Counter(f"city {number % 7}" for number in range(100, 5_000))
    assert {row["city"]: row["people"] for row in rows} == expected
    assert running.folded("survivors") == dict.fromkeys(expected.items(), 1)


def test_a_service_that_has_stopped_leaves_no_process_behind(running: Running) -> None:
    processes = descendants(running.service.pid)
    assert len(processes) > 1
    running.service.stop()
    # Python's workers end when they notice that the JVM has.
    await_true("all have ended", lambda: not any(map(is_alive, processes)), seconds=10)


def is_alive(pid: int) -> bool:
    """Whether a process has not ended; one that nobody has waited for yet has."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
