"""Queries that are answered once: rows in order, in every format, as of one time."""

import csv
import io
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient
from httpx import Response

from api.large import THREADS
from api.runtime import Runtime
from api.services.queries import Rows
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order
from views.compile import CompiledQuery, compile_query


@pytest.fixture(autouse=True)
def filled(engine: None, pipeline: DirectPipeline) -> DirectPipeline:
    """Three orders of ada and bob."""
    pipeline.deliver(
        "orders",
        (order(1, "ada", "12.50"), 1),
        (order(2, "ada", "30"), 1),
        (order(3, "bob", "7.25"), 1),
    )
    return pipeline


def ask(client: TestClient, query: str, accept: str = "*/*", **more: Any) -> Response:
    body = {"query": query, **more}
    found: Response = client.post("/v1/query", json=body, headers={"accept": accept})
    return found


def rows(client: TestClient, query: str, **more: Any) -> list[dict[str, Any]]:
    answer = ask(client, query, **more)
    assert answer.status_code == 200, answer.text
    found: list[dict[str, Any]] = answer.json()["rows"]
    return found


def test_an_answer_tells_its_time_its_columns_and_what_it_reflects(client: TestClient) -> None:
    answer = ask(client, "SELECT id, amount FROM orders WHERE id = 2").json()
    assert answer == {
        "time": 1,
        "columns": [
            {"name": "id", "type": "int64", "nullable": False},
            {"name": "amount", "type": "decimal128(12, 2)", "nullable": True},
        ],
        "rows": [{"id": 2, "amount": "30.00"}],
        "more": False,
        "offsets": {"orders": {"0": 3}},
        "sources": {"orders": {"0": 3}},
    }


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("SELECT id FROM orders ORDER BY amount", [3, 1, 2]),
        ("SELECT id FROM orders ORDER BY amount DESC LIMIT 2", [2, 1]),
        ("SELECT id FROM orders ORDER BY customer DESC, id DESC OFFSET 1", [2, 1]),
        ("SELECT id FROM orders UNION ALL SELECT 9 ORDER BY id DESC", [9, 3, 2, 1]),
        ("(SELECT id FROM orders ORDER BY amount DESC)", [2, 1, 3]),
        ("VALUES (3), (1), (2) ORDER BY 1", [1, 2, 3]),
    ],
)
def test_rows_come_in_the_order_that_is_asked_for(
    client: TestClient, query: str, ids: list[int]
) -> None:
    assert [next(iter(row.values())) for row in rows(client, query)] == ids


def test_views_and_sources_are_asked_together(client: TestClient) -> None:
    query = "SELECT o.id, t.orders FROM orders o JOIN totals t USING (customer) ORDER BY 1"
    assert [tuple(row.values()) for row in rows(client, query)] == [(1, 2), (2, 2), (3, 1)]


def test_datalog_is_asked_too(client: TestClient) -> None:
    query = '?- orders(id: i, customer: "ada").'
    found = rows(client, query, language="datalog")
    assert sorted(row["i"] for row in found) == [1, 2]


def test_a_limit_cuts_the_answer_and_says_so(client: TestClient) -> None:
    answer = ask(client, "SELECT id FROM orders ORDER BY id", limit=2).json()
    assert ([row["id"] for row in answer["rows"]], answer["more"]) == ([1, 2], True)
    answer = ask(client, "SELECT 1 AS one FROM orders", limit=3).json()
    assert (len(answer["rows"]), answer["more"]) == (3, False)


def test_a_later_query_sees_what_came_since(client: TestClient, pipeline: DirectPipeline) -> None:
    count = "SELECT count(*) AS n FROM orders"
    assert rows(client, count) == [{"n": 3}]
    pipeline.deliver("orders", (order(3, "bob", "7.25"), -1))
    assert rows(client, count) == [{"n": 2}]


def test_nothing_is_left_of_a_query(client: TestClient, runtime: Runtime) -> None:
    before = {info.name for info in runtime.pool.arrangements()}, runtime.pool.names
    rows(client, "SELECT customer, max(amount) AS m FROM orders GROUP BY customer ORDER BY m")
    ask(client, "SELECT 1 / (id - id) AS x FROM orders")
    assert ({info.name for info in runtime.pool.arrangements()}, runtime.pool.names) == before


QUERY = "SELECT id, customer, amount, CASE WHEN id > 1 THEN '' END AS note FROM orders ORDER BY id"


def test_rows_are_lines_of_json(client: TestClient) -> None:
    answer = ask(client, QUERY, "application/x-ndjson")
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert [orjson.loads(line)["id"] for line in answer.content.splitlines()] == [1, 2, 3]
    assert (answer.headers["ivm-time"], answer.headers["ivm-more"]) == ("1", "false")


def test_rows_are_csv_with_a_header(client: TestClient) -> None:
    answer = ask(client, QUERY, "text/csv")
    found = list(csv.reader(io.StringIO(answer.text)))
    assert found[0] == ["id", "customer", "amount", "note"]
    assert found[1:3] == [["1", "ada", "12.50", ""], ["2", "ada", "30.00", ""]]
    assert answer.text.splitlines()[1:3] == ["1,ada,12.50,", '2,ada,30.00,""']


def test_rows_are_an_arrow_stream(client: TestClient) -> None:
    answer = ask(client, QUERY, "application/vnd.apache.arrow.stream")
    table = pa.ipc.open_stream(answer.content).read_all()
    assert table.schema.field("amount").type == pa.decimal128(12, 2)
    assert table.column("id").to_pylist() == [1, 2, 3]


def test_rows_are_a_parquet_file(client: TestClient) -> None:
    answer = ask(client, QUERY, "application/vnd.apache.parquet;q=0.9, text/html")
    table = pq.read_table(pa.BufferReader(answer.content))
    assert table.column("note").to_pylist() == [None, "", ""]


@pytest.mark.parametrize(
    ("query", "status", "code"),
    [
        ("SELECT nobody FROM orders", 422, "unknown-column"),
        ("SELECT id FROM nowhere", 422, "unknown-table"),
        ("DROP TABLE orders", 422, "unsupported"),
        ("SELECT 10 / (id - 1) AS x FROM orders", 422, "rows-not-computed"),
        ("SELECT id, id FROM orders", 422, "duplicate-column"),
    ],
)
def test_a_query_that_cannot_be_answered_is_refused(
    client: TestClient, query: str, status: int, code: str
) -> None:
    answer = ask(client, query)
    assert (answer.status_code, answer.json()["code"]) == (status, code)


def test_a_format_that_there_is_not_is_refused(client: TestClient) -> None:
    answer = ask(client, QUERY, "text/html")
    assert (answer.status_code, answer.json()["code"]) == (406, "not-acceptable")
    assert "text/csv" in answer.json()["detail"]


def test_a_query_that_pairs_too_many_rows_is_refused(client: TestClient, runtime: Runtime) -> None:
    runtime.settings.max_pairs = 5
    answer = ask(client, "SELECT count(*) AS n FROM orders a, orders b")
    assert (answer.status_code, answer.json()["code"]) == (422, "cartesian-product")


def test_queries_that_take_long_keep_no_look_up_waiting(
    client: TestClient, runtime: Runtime, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, ended = threading.Semaphore(0), threading.Event()
    ask_now = runtime.queries.ask

    def ask_late(*arguments: Any) -> Rows:
        begun.release()
        assert ended.wait(60)
        return ask_now(*arguments)

    monkeypatch.setattr(runtime.queries, "ask", ask_late)
    with ThreadPoolExecutor(THREADS) as asking:
        answers = [asking.submit(ask, client, "SELECT id FROM orders") for _ in range(THREADS)]
        assert all(begun.acquire(timeout=60) for _ in range(THREADS))
        found = client.get("/v1/views/totals/rows", params={"scan": True})
        ended.set()
        assert {answer.result().status_code for answer in answers} == {200}
    assert len(found.json()["rows"]) == 2


def test_a_query_that_is_asked_again_is_compiled_once(
    client: TestClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    compiled: list[str] = []

    def counted(query: str, *arguments: Any) -> CompiledQuery:
        compiled.append(query)
        return compile_query(query, *arguments)

    monkeypatch.setattr("api.services.compiler.compile_query", counted)
    query = "SELECT sum(amount) AS total FROM orders"
    assert rows(client, query) == rows(client, query) == [{"total": "49.75"}]
    assert compiled == [query]


def test_a_query_that_is_asked_again_sees_what_was_declared_since(client: TestClient) -> None:
    for column in ("customer", "amount"):
        defined = {"query": f"SELECT id, {column} FROM orders"}
        client.put("/v1/views/some", json=defined).raise_for_status()
        found = ask(client, "SELECT * FROM some").json()["columns"]
        assert [each["name"] for each in found] == ["id", column]
        client.delete("/v1/views/some").raise_for_status()
    assert ask(client, "SELECT * FROM some").json()["code"] == "unknown-table"


def test_a_query_that_is_asked_again_sees_what_has_changed_since(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    query = "SELECT count(*) AS many FROM orders"
    assert rows(client, query) == [{"many": 3}]
    pipeline.deliver("orders", (order(4, "bob", "1"), 1))
    assert rows(client, query) == [{"many": 4}]
