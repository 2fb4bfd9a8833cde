"""The cost of a view's operators, EXPLAIN of a query, and bounds on what both take."""

import re
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from time import monotonic
from typing import Any

import orjson
import pytest
from fastapi.testclient import TestClient

from api.runtime import Runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order

FAR = """
WITH RECURSIVE later(id) AS (
    SELECT 1 UNION SELECT o.id FROM later l JOIN orders o ON o.id = l.id + 1
) SELECT id FROM later
"""

MANY_PAIRS = """
SELECT count(*) AS n FROM generate_series(1, 1000000) AS a(x), generate_series(1, 1000000) AS b(y)
WHERE a.x * b.y = 17
"""  # a million times a million


@pytest.fixture(autouse=True)
def filled(pipeline: DirectPipeline) -> DirectPipeline:
    """Three orders of ada and bob."""
    pipeline.deliver(
        "orders",
        (order(1, "ada", "12.50"), 1),
        (order(2, "ada", "30"), 1),
        (order(3, "bob", "7.25"), 1),
    )
    return pipeline


def ask(client: TestClient, query: str, status: int = 200, **more: Any) -> Any:
    answer = client.post("/v1/query", json={"query": query, **more})
    assert answer.status_code == status, answer.text
    return answer.json()


def plan(client: TestClient, query: str) -> list[str]:
    return [row["QUERY PLAN"] for row in ask(client, query)["rows"]]


def without_figures(lines: list[str]) -> list[str]:
    return [line.split("  (rows=")[0].split("  (bytes=")[0] for line in lines]


def test_the_operators_of_a_view_are_those_of_its_plan(client: TestClient) -> None:
    query = "SELECT customer, max(amount) AS most FROM orders GROUP BY customer"
    stages = client.post("/v1/explain", json={"query": query}).json()["stages"]
    physical = next(stage["text"] for stage in stages if stage["name"] == "physical")
    client.put("/v1/views/most", json={"query": query})
    found = client.get("/v1/views/most/operators").json()["operators"]
    told = [line.strip().replace("(new)", "most") for line in physical.splitlines()]
    assert [f"#{o['number']} {o['kind']} {o['text']}" for o in found] == [
        line for line in told if line.startswith("#")
    ]
    assert found[-1]["rows"] == 2
    assert found[-1]["arrangement"] is None


def test_the_operators_of_a_loop_tell_its_rounds(client: TestClient) -> None:
    client.put("/v1/views/later", json={"query": FAR})
    found = client.get("/v1/views/later/operators").json()
    (loop,) = [o for o in found["operators"] if o["kind"] == "Loop"]
    assert loop["rounds"]["most_rounds"] == loop["rounds"]["step_rounds"] == 4
    assert sum(each["changes"] for each in loop["rounds"]["classes"]) == 3
    assert {o["number"] for o in found["operators"] if o["loop"] == loop["number"]}


def test_a_view_that_is_not_there_has_no_operators(client: TestClient) -> None:
    answer = client.get("/v1/views/nobody/operators")
    assert (answer.status_code, answer.json()["code"]) == (404, "unknown-name")


def test_explain_shows_the_plan_and_runs_nothing(client: TestClient) -> None:
    lines = plan(client, "EXPLAIN SELECT customer, count(*) AS n FROM orders GROUP BY 1")
    assert lines[0] == "reuse orders[id]"
    assert "deliver" in lines
    assert plan(client, "explain SELECT 1 / (id - id) AS x FROM orders")


def test_explain_analyze_shows_rows_bytes_and_time_of_each_operator(client: TestClient) -> None:
    query = "SELECT id, customer FROM orders WHERE id > 1"
    lines = plan(client, f"EXPLAIN ANALYZE {query}")
    assert without_figures(lines[:-2]) == plan(client, f"EXPLAIN {query}")
    figures = re.compile(r"\(rows=2 bytes=\d+ time=\d+\.\d{3} ms\)$")
    assert any(figures.search(line) for line in lines)
    assert [line.partition(":")[0] for line in lines[-2:]] == ["Planning Time", "Execution Time"]


def test_explain_analyze_tells_the_rounds_of_a_loop(client: TestClient) -> None:
    (loop,) = [line for line in plan(client, f"EXPLAIN ANALYZE {FAR}") if " Loop over " in line]
    assert loop.endswith("rounds=4 to 3 most=4 changes by round 0:0 1:1 2-3:2)")


def test_explain_analyze_is_json_too(client: TestClient) -> None:
    (line,) = plan(client, "EXPLAIN (ANALYZE, FORMAT JSON) SELECT id FROM orders")
    document = orjson.loads(line)
    assert [reused["name"] for reused in document["reused"]] == ["orders[id]"]
    assert document["operators"][-1]["rows"] == 3
    assert document["execution_seconds"] > 0


def test_nothing_is_left_of_an_analyzed_query(client: TestClient, runtime: Runtime) -> None:
    before = runtime.pool.names
    plan(client, f"EXPLAIN ANALYZE {FAR}")
    assert runtime.pool.names == before


@pytest.mark.parametrize(
    ("query", "code", "detail"),
    [
        ("EXPLAIN", "syntax-error", "EXPLAIN is followed by a query"),
        ("EXPLAIN (BUFFERS) SELECT 1", "unsupported", "option BUFFERS is not supported"),
        ("EXPLAIN (FORMAT XML) SELECT 1", "unsupported", "option FORMAT XML is not supported"),
        ("EXPLAIN (FORMAT JSON) SELECT 1", "unsupported", "with ANALYZE only"),
        ("EXPLAIN ANALYZE SELECT nobody FROM orders", "unknown-column", "nobody"),
        ("EXPLAIN ANALYZE SELECT 1 / (id - 1) AS x FROM orders", "rows-not-computed", "zero"),
        ("EXPLAIN ANALYZE EXPLAIN SELECT 1", "unsupported", ""),
    ],
)
def test_what_cannot_be_explained_is_refused(
    client: TestClient, query: str, code: str, detail: str
) -> None:
    found = ask(client, query, 422)
    assert found["code"] == code
    assert detail in found["detail"]


def test_a_fault_in_an_explained_query_is_where_it_stands(client: TestClient) -> None:
    found = ask(client, "EXPLAIN ANALYZE\nSELECT nobody FROM orders", 422)
    assert (found["line"], found["column"]) == (2, 8)


def test_a_query_that_takes_too_long_is_stopped(client: TestClient, runtime: Runtime) -> None:
    runtime.settings.max_query_seconds = 0.3
    began = monotonic()
    found = ask(client, MANY_PAIRS, 422)
    assert monotonic() - began < 20
    assert found["code"] == "query-stopped"
    assert "it took more than 0.3 seconds; ask for less, or let the operator" in found["detail"]
    assert len(ask(client, FAR)["rows"]) == 3


def test_a_query_without_end_keeps_neither_batches_nor_look_ups_waiting(
    client: TestClient, runtime: Runtime, pipeline: DirectPipeline
) -> None:
    runtime.settings.max_query_seconds = 1
    with ThreadPoolExecutor(1) as asking:
        answer, copies = asking.submit(ask, client, MANY_PAIRS, 422), 0
        while not answer.done():
            pipeline.deliver("orders", (order(4, "cleo", "1"), -1 if copies % 2 else 1))
            copies += 1
            found = client.get("/v1/views/totals/rows", params={"customer": "cleo"}).json()
            assert len(found["rows"]) == copies % 2
    assert answer.result()["code"] == "query-stopped"
    assert copies > 3


def test_a_view_whose_hydration_takes_too_long_is_not_made(
    client: TestClient, runtime: Runtime, pipeline: DirectPipeline
) -> None:
    runtime.settings.max_hydration_seconds = 0.05
    answer = client.put("/v1/views/pairs", json={"query": MANY_PAIRS})
    assert (answer.status_code, answer.json()["code"]) == (422, "query-stopped")
    assert "max_hydration_seconds" in answer.json()["detail"]
    assert client.get("/v1/views/pairs").status_code == 404
    pipeline.deliver("orders", (order(4, "bob", "1"), 1))
    rows = client.get("/v1/views/totals/rows", params={"customer": "bob"}).json()["rows"]
    assert [(row["orders"], Decimal(row["total"])) for row in rows] == [(2, Decimal("8.25"))]


def test_metrics_tell_the_time_and_the_rounds_of_each_view(client: TestClient) -> None:
    client.put("/v1/views/later", json={"query": FAR})
    lines = client.get("/metrics").text.splitlines()
    told = dict(line.rsplit(" ", 1) for line in lines if line.startswith("ivm_view_"))
    assert float(told['ivm_view_seconds_total{view="later"}']) > 0
    assert told['ivm_view_rounds_total{view="later"}'] == "4.0"
    assert told['ivm_view_rounds_total{view="totals"}'] == "0.0"
