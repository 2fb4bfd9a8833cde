"""Views that fail: status and reason, the definition that is kept, and the retry by a call."""

from pathlib import Path
from typing import Any, cast

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from tests.unit.api.conftest import ORDERS, TOTALS, make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order

COUNTED = """
WITH RECURSIVE numbers(n) AS (
    SELECT id FROM orders UNION ALL SELECT n + 1 FROM numbers WHERE n < {end}
) SELECT n FROM numbers
"""
SAME = "SELECT a.customer FROM {view} a JOIN {view} b ON a.customer = b.customer"


class Service:
    """A service on a directory, its client, and the pipeline to feed it by."""

    def __init__(self, directory: Path, **settings: Any) -> None:
        self.runtime: Runtime = make_runtime(directory, wait_seconds=0.05, **settings)
        self.client = TestClient(create_app(self.runtime), raise_server_exceptions=False)
        self.client.__enter__()
        self.runtime.readiness.wait()
        self.pipeline = cast(DirectPipeline, cast(Any, self.runtime.pipeline))

    def put(self, name: str, query: str) -> Any:
        return self.client.put(f"/v1/views/{name}", json={"query": query})

    def view(self, name: str) -> Any:
        return self.client.get(f"/v1/views/{name}").json()

    def retry(self, name: str) -> Any:
        return self.client.post(f"/v1/views/{name}/retry")

    def rows(self, name: str) -> Any:
        return self.client.get(f"/v1/views/{name}/rows?scan=true").json()["rows"]

    def stop(self) -> None:
        self.client.__exit__(None, None, None)


@pytest.fixture
def service(tmp_path: Path) -> Any:
    made = Service(tmp_path, max_rounds=20)
    assert made.client.put("/v1/sources/orders", json=ORDERS).status_code == 201
    assert made.client.put("/v1/views/totals", json=TOTALS).status_code == 201
    yield made
    made.stop()


def fail(service: Service, name: str = "numbers") -> None:
    """Put a recursion that has the rounds for order 10, and not for order 1."""
    assert service.put(name, COUNTED.format(end=28)).status_code == 201
    service.pipeline.deliver("orders", (order(10, "ada", "1"), 1))
    assert service.view(name)["status"] == "running"
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))


def test_a_view_that_passes_the_bound_on_rounds_names_the_setting_and_stays_defined(
    service: Service,
) -> None:
    fail(service)
    view = service.view("numbers")
    assert view["status"] == "failed"
    assert "within 20 rounds, the most that max_rounds allows" in view["reason"]
    assert "FROM numbers" in view["query"]
    answer = service.client.get("/v1/views/numbers/rows?scan=true")
    assert answer.status_code == 409
    assert "POST /v1/views/numbers/retry" in answer.json()["detail"]


def test_a_retry_maintains_a_view_again_once_it_converges(service: Service) -> None:
    fail(service)
    service.pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    retried = service.retry("numbers")
    assert retried.status_code == 200
    assert retried.json()["status"] == "running"
    assert retried.json()["reason"] is None
    assert len(service.rows("numbers")) == 19
    service.pipeline.deliver("orders", (order(20, "bob", "1"), 1))
    assert len(service.rows("numbers")) == 28


def test_a_retry_begins_the_delta_topic_anew_with_a_snapshot(service: Service) -> None:
    fail(service)
    service.pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    service.retry("numbers")
    feed = service.client.get("/v1/views/numbers/rows?scan=true")
    assert feed.status_code == 200
    topic = service.runtime.topics / "deltas.numbers"
    lines = [line for file in sorted(topic.rglob("*")) if file.is_file() for line in file.open()]
    assert sum('"op":"+"' in line.replace(" ", "") for line in lines) == 19


def test_a_retry_that_fails_again_tells_why_and_changes_nothing(service: Service) -> None:
    fail(service)
    answer = service.retry("numbers")
    assert answer.status_code == 422
    assert answer.json()["code"] == "no-fixed-point"
    assert "max_rounds" in service.view("numbers")["reason"]
    service.pipeline.deliver("orders", (order(2, "ada", "1"), 1))
    assert service.rows("totals")


def test_a_retry_of_a_view_that_runs_leaves_it_alone(service: Service) -> None:
    before = service.view("totals")
    assert service.retry("totals").status_code == 200
    assert service.view("totals") == before
    assert service.retry("nothing").status_code == 404


def test_a_retry_lasts_through_a_restart_as_a_failure_does(
    service: Service, tmp_path: Path
) -> None:
    fail(service)
    service.pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    service.retry("numbers")
    service.stop()
    again = Service(tmp_path, max_rounds=20)
    assert again.view("numbers")["status"] == "running"
    again.stop()


def test_a_restart_with_a_higher_bound_lets_a_retry_succeed(
    service: Service, tmp_path: Path
) -> None:
    fail(service)
    service.stop()
    again = Service(tmp_path, max_rounds=100)
    assert again.view("numbers")["status"] == "failed"
    assert again.retry("numbers").json()["status"] == "running"
    again.stop()


def test_a_restart_with_a_lower_bound_fails_what_it_stops_and_starts(
    service: Service, tmp_path: Path
) -> None:
    numbers = COUNTED.format(end=18).replace("SELECT id FROM orders", "SELECT 1::bigint")
    assert service.put("numbers", numbers).status_code == 201
    assert service.put("few", "SELECT n FROM numbers WHERE n < 5").status_code == 201
    assert len(service.rows("few")) == 4
    service.stop()
    again = Service(tmp_path, max_rounds=5)
    assert again.runtime.readiness.fault() is None
    assert again.view("numbers")["status"] == "failed"
    assert "within 5 rounds" in again.view("numbers")["reason"]
    assert again.view("few")["reason"] == "it reads 'numbers', which failed"
    assert again.view("totals")["status"] == "running"
    again.stop()


def test_a_view_that_reads_a_failed_one_says_so_and_is_retried_after_it(service: Service) -> None:
    assert service.put("numbers", COUNTED.format(end=28)).status_code == 201
    assert service.put("few", "SELECT n FROM numbers WHERE n < 5").status_code == 201
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    assert service.view("few")["reason"] == "it reads 'numbers', which failed"
    assert service.retry("few").json()["code"] == "view-failed"
    service.pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    assert service.retry("numbers").json()["status"] == "running"
    assert service.retry("few").json()["status"] == "running"


def test_the_limit_of_a_query_is_told_as_its_own(service: Service) -> None:
    recursion = (
        "WITH MUTUALLY RECURSIVE (ERROR AT RECURSION LIMIT 5) t(n bigint) AS "
        "(SELECT id FROM orders UNION SELECT n + 1 FROM t WHERE n < 30) SELECT n FROM t"
    )
    service.put("limited", recursion)
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    reason = service.view("limited")["reason"]
    assert "within 5 rounds, the limit that the query sets" in reason
    assert "max_rounds" not in reason


@pytest.mark.parametrize("action", ["ERROR", "RETURN"])
def test_a_query_cannot_allow_itself_more_rounds_than_the_operator(
    service: Service, action: str
) -> None:
    recursion = (
        f"WITH MUTUALLY RECURSIVE ({action} AT RECURSION LIMIT 21) t(n bigint) AS "
        "(SELECT id FROM orders UNION SELECT n + 1 FROM t WHERE n < 30) SELECT n FROM t"
    )
    answer = service.put("limited", recursion)
    assert answer.json()["code"] == "limit-too-high"
    assert "21 rounds is more than max_rounds, which is 20" in answer.json()["detail"]
    assert service.put("limited", recursion.replace("21", "20")).status_code == 201


def test_a_view_whose_counts_overflow_fails_alone_and_comes_back_with_fewer_rows(
    service: Service,
) -> None:
    """Each of six views squares the copies of the one before: 3 ** 64 of them in the last."""
    assert service.put("v0", "SELECT customer FROM orders").status_code == 201
    for i in range(6):
        assert service.put(f"v{i + 1}", SAME.format(view=f"v{i}")).status_code == 201
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1), (order(2, "ada", "1"), 1))
    service.pipeline.deliver("orders", (order(3, "ada", "1"), 1))
    assert [service.view(f"v{i}")["status"] for i in range(7)] == ["running"] * 6 + ["failed"]
    assert "copies" in service.view("v6")["reason"]
    service.pipeline.deliver("orders", (order(3, "ada", "1"), -1))
    service.pipeline.deliver("orders", (order(2, "ada", "1"), -1))
    assert service.retry("v6").json()["status"] == "running"
    assert service.rows("v6") == [{"customer": "ada"}]


def test_a_recursion_whose_counts_overflow_names_the_round_and_the_binding(
    service: Service,
) -> None:
    doubling = (
        "WITH MUTUALLY RECURSIVE two(n bigint) AS (SELECT id FROM orders), copies(n bigint) AS "
        "(SELECT n FROM two UNION ALL SELECT a.n FROM copies a JOIN copies b ON a.n = b.n) "
        "SELECT n FROM copies"
    )
    service.put("doubled", doubling)
    service.pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    reason = service.view("doubled")["reason"]
    assert "in round 7 of its recursion, in 'copies'" in reason
