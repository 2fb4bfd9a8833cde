"""Look-ups: by key, by other columns, by page, with tags and at an input's offset."""

import threading
from decimal import Decimal

import orjson
import pytest
from fastapi.testclient import TestClient

from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order

pytestmark = pytest.mark.usefixtures("engine")

ROWS = "/v1/views/totals/rows"


def fill(pipeline: DirectPipeline) -> None:
    pipeline.deliver(
        "orders",
        (order(1, "ada", "12.50"), 1),
        (order(2, "ada", "30"), 1),
        (order(3, "bob", "7.25"), 1),
    )


def test_a_row_is_found_by_the_key(client: TestClient, pipeline: DirectPipeline) -> None:
    fill(pipeline)
    answer = client.get(ROWS, params={"customer": "ada"}).json()
    assert answer["rows"] == [{"customer": "ada", "orders": 2, "total": "42.50"}]
    assert answer["time"] == 1
    assert answer["offsets"] == {"orders": {"0": 3}}


def test_a_look_up_sees_deletions(client: TestClient, pipeline: DirectPipeline) -> None:
    fill(pipeline)
    pipeline.deliver("orders", (order(3, "bob", "7.25"), -1))
    assert client.get(ROWS, params={"customer": "bob"}).json()["rows"] == []


def test_a_row_deleted_before_it_was_inserted_is_not_there(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    client.put("/v1/views/listed", json={"query": "SELECT id, customer FROM orders"})
    pipeline.deliver("orders", (order(1, "ada", "1"), -1), (order(2, "bob", "1"), 1))
    answer = client.get("/v1/views/listed/rows", params={"scan": "true"}).json()
    assert answer["rows"] == [{"id": 2, "customer": "bob"}]


def test_a_column_without_an_index_is_refused_with_advice(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    answer = client.get(ROWS, params={"orders": "2"})
    assert answer.status_code == 400
    assert answer.json()["code"] == "not-indexed"
    assert "(customer)" in answer.json()["detail"]
    assert "scan=true" in answer.json()["detail"]


def test_a_scan_filters_by_any_column(client: TestClient, pipeline: DirectPipeline) -> None:
    fill(pipeline)
    answer = client.get(ROWS, params={"total": "7.25", "scan": "true"}).json()
    assert [row["customer"] for row in answer["rows"]] == ["bob"]


@pytest.mark.parametrize(
    "parameters",
    [
        {"colour": "red"},
        {"orders": "many", "scan": "true"},
        {"total": "1.234", "scan": "true"},
        {"scan": "true", "cursor": "nonsense"},
        {"customer": "ada", "at_least": "orders"},
        {"customer": "ada", "at_least": "nothing:0:1"},
        {"customer": "ada", "at_least": "orders:0:" + "9" * 5000},
    ],
)
def test_a_parameter_that_means_nothing_is_refused(
    client: TestClient, pipeline: DirectPipeline, parameters: dict[str, str]
) -> None:
    answer = client.get(ROWS, params=parameters)
    assert answer.status_code == 400
    assert answer.json()["code"] == "bad-parameter"


@pytest.mark.parametrize("name", ["limit", "cursor", "scan", "at_least", "filter[x]", "customer"])
def test_a_column_may_be_called_as_a_parameter_is(
    client: TestClient, pipeline: DirectPipeline, name: str
) -> None:
    body = {"query": f'SELECT customer AS "{name}", id AS i FROM orders', "key": [name]}
    client.put("/v1/views/named", json=body)
    fill(pipeline)
    answer = client.get("/v1/views/named/rows", params={f"filter[{name}]": "bob", "limit": "1"})
    assert answer.json()["rows"] == [{name: "bob", "i": 3}]
    twice = {f"filter[{name}]": ["bob", "bob"]}
    assert client.get("/v1/views/named/rows", params=twice).json()["code"] == "bad-parameter"


def test_how_to_look_up_a_column_called_limit_is_told(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    client.put("/v1/views/named", json={"query": 'SELECT id AS "limit" FROM orders'})
    answer = client.get("/v1/views/named/rows", params={"limit": "1"})
    assert answer.json()["code"] == "not-indexed"
    assert "filter[limit]" in answer.json()["detail"]


def test_pages_cover_all_rows_once(client: TestClient, pipeline: DirectPipeline) -> None:
    names = [f"c{i:02d}" for i in range(25)]
    pipeline.deliver("orders", *((order(i + 1, name, "1"), 1) for i, name in enumerate(names)))
    seen: list[str] = []
    parameters = {"scan": "true", "limit": "10"}
    for _ in range(3):
        answer = client.get(ROWS, params=parameters).json()
        seen += [row["customer"] for row in answer["rows"]]
        parameters["cursor"] = answer.get("next", "")
    assert seen == names
    assert "next" not in answer


def test_arrays_are_answered_looked_up_and_paged_as_json(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    query = "SELECT array_agg(amount ORDER BY id) AS amounts FROM orders GROUP BY customer"
    client.put("/v1/views/arrays", json={"query": query})
    fill(pipeline)
    rows = "/v1/views/arrays/rows"
    found = client.get(rows, params={"amounts": '["12.50","30.00"]'}).json()["rows"]
    assert found == [{"amounts": ["12.50", "30.00"]}]
    first = client.get(rows, params={"scan": "true", "limit": "1"}).json()
    rest = client.get(rows, params={"scan": "true", "cursor": first["next"]}).json()
    assert [first["rows"], rest["rows"]] == [found, [{"amounts": ["7.25"]}]]


def test_arrays_with_floats_that_json_lacks_are_looked_up_and_paged_as_answered(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    special = "unnest(ARRAY['NaN', '-Infinity']::double precision[])"
    query = f"SELECT id, ARRAY[x, 1.5] AS xs FROM orders, {special} AS t(x)"
    client.put("/v1/views/floats", json={"query": query, "key": ["xs"]})
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    rows = "/v1/views/floats/rows"
    for xs in (["NaN", 1.5], ["-Infinity", 1.5]):
        found = client.get(rows, params={"xs": orjson.dumps(xs).decode()}).json()["rows"]
        assert found == [{"id": 1, "xs": xs}]
    first = client.get(rows, params={"scan": "true", "limit": "1"}).json()
    rest = client.get(rows, params={"scan": "true", "cursor": first["next"]}).json()
    assert len(first["rows"]) == len(rest["rows"]) == 1


def test_the_tag_stays_while_the_rows_stay(client: TestClient, pipeline: DirectPipeline) -> None:
    fill(pipeline)
    tag = client.get(ROWS, params={"customer": "ada"}).headers["etag"]
    pipeline.deliver("orders", (order(4, "bob", "1"), 1))
    again = client.get(ROWS, params={"customer": "ada"}, headers={"if-none-match": tag})
    assert again.status_code == 304
    pipeline.deliver("orders", (order(5, "ada", "1"), 1))
    changed = client.get(ROWS, params={"customer": "ada"}, headers={"if-none-match": tag})
    assert changed.status_code == 200


def test_at_least_waits_for_the_offset(client: TestClient, pipeline: DirectPipeline) -> None:
    fill(pipeline)
    writer = threading.Timer(0.01, pipeline.deliver, ("orders", (order(4, "eve", "1"), 1)))
    writer.start()
    answer = client.get(ROWS, params={"customer": "eve", "at_least": "orders:0:3"})
    writer.join()
    assert answer.json()["rows"] == [{"customer": "eve", "orders": 1, "total": "1.00"}]


def test_at_least_gives_up_within_its_bound(client: TestClient, pipeline: DirectPipeline) -> None:
    answer = client.get(ROWS, params={"customer": "eve", "at_least": "orders:0:99"})
    assert answer.status_code == 504
    assert answer.json()["code"] == "offset-not-reached"


def test_at_least_waits_for_no_offset_without_a_record(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    fill(pipeline)
    end = client.get(ROWS, params={"customer": "ada"}).json()["offsets"]["orders"]["0"]
    pipeline.gaps["orders", 0] = (end, end + 3)
    for offset, status in ((end - 1, 200), (end, 200), (end + 2, 200), (end + 3, 504)):
        answer = client.get(ROWS, params={"customer": "ada", "at_least": f"orders:0:{offset}"})
        assert answer.status_code == status, offset
    pipeline.gaps["orders", 0] = (end + 1, end + 3)
    answer = client.get(ROWS, params={"customer": "ada", "at_least": f"orders:0:{end + 1}"})
    assert answer.status_code == 504


def test_equal_rows_are_answered_as_often_as_they_are_there(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    client.put("/v1/views/names", json={"query": "SELECT customer FROM orders"})
    fill(pipeline)
    answer = client.get("/v1/views/names/rows", params={"customer": "ada"}).json()
    assert answer["rows"] == [{"customer": "ada"}] * 2


def test_a_row_that_cannot_be_computed_is_counted_and_told(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    client.put("/v1/views/ratio", json={"query": "SELECT id, 1 / (id - 1) AS r FROM orders"})
    pipeline.deliver("orders", (order(1, "ada", "1"), 1), (order(2, "ada", "1"), 1))
    answer = client.get("/v1/views/ratio/rows", params={"id": "2"}).json()
    assert (answer["rows"], answer["errors"]) == ([{"id": 2, "r": 1}], 1)
    [error] = client.get("/v1/errors").json()["errors"]
    assert (error["view"], error["count"]) == ("ratio", 1)
    pipeline.deliver("orders", (order(1, "ada", "1"), -1))
    assert client.get("/v1/errors").json()["errors"] == []


def test_decimals_keep_their_digits(client: TestClient, pipeline: DirectPipeline) -> None:
    pipeline.deliver("orders", (order(1, "ada", "0.10"), 1))
    [row] = client.get(ROWS, params={"customer": "ada"}).json()["rows"]
    assert Decimal(row["total"]) == Decimal("0.10")


def test_a_column_without_a_name_can_be_read(client: TestClient, pipeline: DirectPipeline) -> None:
    client.put("/v1/views/unnamed", json={"query": "SELECT id + 0 FROM orders"})
    fill(pipeline)
    answer = client.get("/v1/views/unnamed/rows", params={"scan": "true", "limit": "1"}).json()
    assert answer["rows"] == [{"?column?": 1}]
