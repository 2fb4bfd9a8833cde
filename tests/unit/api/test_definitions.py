"""Sources and views: declared, declared again, refused, listed and dropped."""

import errno
import os
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api import registry
from api.app import create_app
from api.errors import RegistryCorrupt
from api.runtime import Runtime
from tests.unit.api.conftest import ORDERS, TOTALS, make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order

pytestmark = pytest.mark.usefixtures("engine")


def test_a_source_is_created_once(client: TestClient) -> None:
    assert client.put("/v1/sources/orders", json=ORDERS).status_code == 201
    assert client.put("/v1/sources/orders", json=ORDERS).status_code == 200


def test_a_view_is_created_once(client: TestClient, pipeline: DirectPipeline) -> None:
    answer = client.put("/v1/views/totals", json=TOTALS)
    assert answer.status_code == 200
    assert answer.json()["key"] == ["customer"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/sources/orders", {**ORDERS, "topic": "other"}),
        ("/v1/views/totals", {"query": "SELECT id FROM orders"}),
        ("/v1/views/totals", {**TOTALS, "key": ["orders"]}),
    ],
)
def test_another_definition_of_a_name_is_a_conflict(
    client: TestClient, pipeline: DirectPipeline, path: str, body: dict[str, Any]
) -> None:
    answer = client.put(path, json=body)
    assert answer.status_code == 409
    assert answer.json()["code"] == "different-definition"


def test_a_view_may_not_take_the_name_of_a_source(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    answer = client.put("/v1/views/orders", json={"query": "SELECT id FROM orders"})
    assert answer.status_code == 409


def test_a_fault_in_sql_is_told_with_its_position(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    answer = client.put("/v1/views/wrong", json={"query": "SELECT id,\n  amuont FROM orders"})
    assert answer.status_code == 422
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["code"] == "unknown-column"
    assert (problem["line"], problem["column"], problem["position"]) == (2, 3, 14)


def test_a_view_may_be_written_in_datalog(client: TestClient, pipeline: DirectPipeline) -> None:
    body = {"query": "?- orders(customer: who, amount: a), a > 10.", "language": "datalog"}
    assert client.put("/v1/views/large", json=body).status_code == 201
    assert client.put("/v1/views/large", json=body).status_code == 200
    assert client.get("/v1/views/large").json()["language"] == "datalog"
    assert client.post("/v1/explain", json=body).json()["stages"][0]["name"] == "parsed"


def test_a_fault_in_datalog_is_told_with_its_position(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    body = {"query": "?- orders(i, _,\n  _, _), x > 1.", "language": "datalog"}
    problem = client.put("/v1/views/wrong", json=body).json()
    assert problem["code"] == "unbound-variable"
    assert (problem["line"], problem["column"]) == (2, 10)


@pytest.mark.parametrize("name", ["../up", "a.b", "1st", "x" * 64, "a b"])
def test_names_that_would_not_do_for_a_topic_are_refused(client: TestClient, name: str) -> None:
    assert client.put(f"/v1/views/{name}", json=TOTALS).status_code in (404, 422)


def test_an_unknown_member_of_a_body_is_refused(client: TestClient) -> None:
    answer = client.put("/v1/sources/orders", json={**ORDERS, "primary_key": ["id"]})
    assert answer.status_code == 422
    assert "primary_key" in answer.json()["detail"]


def test_a_source_may_not_read_a_topic_of_views(client: TestClient) -> None:
    answer = client.put("/v1/sources/orders", json={**ORDERS, "topic": "deltas.totals"})
    assert answer.status_code == 422
    assert answer.json()["code"] == "invalid-table"


def test_an_unknown_type_names_the_known_ones(client: TestClient) -> None:
    body = {"columns": [{"name": "id", "type": "intger"}], "key": ["id"]}
    answer = client.put("/v1/sources/orders", json=body)
    assert answer.status_code == 422
    assert "did you mean 'integer'" in answer.json()["detail"]


def test_what_a_bad_record_does_can_change_and_ends_a_stall(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    assert client.put("/v1/sources/orders", json={**ORDERS, "on_error": "stall"}).status_code == 200
    pipeline.state = "stalled"
    answer = client.put("/v1/sources/orders", json={**ORDERS, "on_error": "quarantine"})
    assert answer.json()["on_error"] == "quarantine"
    assert client.get("/v1/sources/orders").json()["on_error"] == "quarantine"
    assert client.get("/readyz").status_code == 200


def test_what_a_view_reads_cannot_be_dropped(client: TestClient, pipeline: DirectPipeline) -> None:
    answer = client.delete("/v1/sources/orders")
    assert answer.status_code == 409
    assert "totals" in answer.json()["detail"]


def test_a_dropped_view_is_gone_with_its_topic(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    topic = tmp_path / "topics" / "deltas.totals"
    assert topic.is_dir()
    assert client.delete("/v1/views/totals").status_code == 204
    assert client.get("/v1/views/totals").status_code == 404
    assert not topic.exists()


def test_a_source_can_be_dropped_and_declared_otherwise(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    client.delete("/v1/views/totals")
    assert client.delete("/v1/sources/orders").status_code == 204
    assert client.put("/v1/sources/orders", json={**ORDERS, "topic": "x"}).status_code == 201


def test_views_are_listed_with_their_state(client: TestClient, pipeline: DirectPipeline) -> None:
    [view] = client.get("/v1/views").json()["views"]
    assert (view["name"], view["status"], view["reads"]) == ("totals", "running", ["orders"])


def test_a_view_tells_its_arrangements(client: TestClient, pipeline: DirectPipeline) -> None:
    names = [a["name"] for a in client.get("/v1/views/totals").json()["arrangements"]]
    assert "totals[customer]" in names


def test_an_unknown_view_is_told_with_near_names(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    answer = client.get("/v1/views/total")
    assert answer.status_code == 404
    assert "'totals'" in answer.json()["detail"]


def test_a_body_beyond_the_limit_is_refused(client: TestClient) -> None:
    answer = client.put("/v1/views/long", json={"query": "x" * (3 << 20)})
    assert answer.status_code == 413


def test_explain_says_what_would_be_shared_and_made(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    answer = client.post("/v1/explain", json={"query": "SELECT id, day FROM orders"}).json()
    assert answer["arrangements"]["reused"] == ["orders[id]"]
    assert answer["arrangements"]["created"] == [{"name": "(new)[id]", "rows": 0, "bytes": 0}]
    assert (answer["arrangements"]["rows"], answer["arrangements"]["bytes"]) == (0, 0)
    assert answer["arrangements"]["basis"].startswith("the rows that its inputs have now")
    assert answer["key"] == ["id"]
    assert answer["stages"][0]["name"] == "parsed"


@pytest.mark.parametrize(
    ("lookups", "delivered"), [(True, "CaptureArranged (new)[id]"), (False, "CaptureRows #0")]
)
def test_explain_ends_with_the_physical_plan_that_would_be_built(
    client: TestClient, pipeline: DirectPipeline, lookups: bool, delivered: str
) -> None:
    body = {"query": "SELECT id, day FROM orders", "lookups": lookups}
    *_, dataflow, physical = client.post("/v1/explain", json=body).json()["stages"]
    assert (dataflow["name"], physical["name"]) == ("dataflow", "physical")
    assert physical["text"].startswith("reuse orders[id]\n")
    assert physical["text"].endswith(delivered)


def test_definitions_outlive_the_process(
    client: TestClient, pipeline: DirectPipeline, tmp_path: Path
) -> None:
    again = make_runtime(tmp_path)
    again.start()
    assert again.readiness.fault() is None
    assert again.views.get("totals").key == ("customer",)
    assert again.sources.get("orders").key == ("id",)


def _full_disk(path: Path, content: bytes) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.mark.parametrize(("path", "body"), [("sources/more", ORDERS), ("views/more", TOTALS)])
def test_what_cannot_be_made_durable_is_refused_and_not_there(
    client: TestClient,
    pipeline: DirectPipeline,
    path: str,
    body: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(registry, "stage", _full_disk)
        refused = client.put(f"/v1/{path}", json=body)
    assert (refused.status_code, refused.json()["code"]) == (507, "registry-not-written")
    assert "No space left" in refused.json()["detail"]
    assert client.get(f"/v1/{path}").status_code == 404
    assert client.put(f"/v1/{path}", json=body).status_code == 201


def test_a_view_that_cannot_be_dropped_durably_stays(
    client: TestClient, pipeline: DirectPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(registry, "stage", _full_disk)
        assert client.delete("/v1/views/totals").status_code == 507
    assert client.get("/v1/views/totals/rows", params={"scan": True}).status_code == 200
    assert client.delete("/v1/views/totals").status_code == 204


def test_a_body_that_is_not_said_to_be_json_is_told_what_to_send(client: TestClient) -> None:
    form = {"content-type": "application/x-www-form-urlencoded"}
    refused = client.put("/v1/views/more", content='{"query": "SELECT 1 AS x"}', headers=form)
    assert (refused.status_code, refused.json()["code"]) == (415, "unsupported-media-type")
    assert "content-type: application/json" in refused.json()["detail"]


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("views/more", '{"query": "SELECT id FROM orders -- \\ud800"}'),
        ("views/more", '{"query": "SELECT id FROM orders", "\\udfff": 1}'),
        (
            "sources/more",
            '{"columns": [{"name": "a", "type": "utf8"}], "key": [], "csv": {"null": "\\ud800"}}',
        ),
    ],
)
def test_half_of_a_surrogate_pair_is_refused_anywhere_in_a_body(
    client: TestClient, pipeline: DirectPipeline, path: str, body: str
) -> None:
    headers = {"content-type": "application/json"}
    refused = client.put(f"/v1/{path}", content=body, headers=headers)
    assert refused.status_code == 422
    assert "surrogate" in refused.json()["detail"]
    assert client.put("/v1/views/more", json=TOTALS).status_code == 201


@pytest.mark.parametrize(
    "catalog", ["[]", '{"tables": [{}], "views": []}', '{"tables": 1, "views": []}']
)
def test_a_damaged_registry_is_told_with_its_path(tmp_path: Path, catalog: str) -> None:
    file = tmp_path / "registry.json"
    file.write_text('{"sources": [], "targets": {}, "catalog": ' + catalog + "}")
    with pytest.raises(RegistryCorrupt, match=r"registry\.json: .*restore the file"):
        registry.Registry(file)


def test_a_product_of_large_tables_is_refused_by_the_operators_limit(
    runtime: Runtime, client: TestClient, pipeline: DirectPipeline
) -> None:
    rows = [{"id": i, "customer": "ada", "amount": None, "day": None} for i in range(20)]
    pipeline.deliver("orders", *((row, 1) for row in rows))
    runtime.settings.max_pairs = 399
    product = {"query": "SELECT count(*) AS n FROM orders a, orders b"}
    answer = client.put("/v1/views/pairs", json=product)
    assert (answer.status_code, answer.json()["code"]) == (422, "cartesian-product")
    # Each shard knows its own rows, so that the product of sums is not told to the digit.
    assert "about 40" in answer.json()["detail"]
    joined = {"query": "SELECT count(*) AS n FROM orders a JOIN orders b USING (id)"}
    assert client.put("/v1/views/pairs", json=joined).status_code == 201


def test_a_query_of_too_many_words_is_refused_with_its_place(tmp_path: Path) -> None:
    with TestClient(create_app(make_runtime(tmp_path, max_query_words=4))) as client:
        answer = client.put("/v1/views/x", json={"query": "SELECT 1 AS x,\n 2 AS y"})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (422, "query-too-large")
    assert (problem["line"], problem["column"]) == (1, 14)


def test_a_column_is_added_by_putting_the_source_again(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", ({"id": 1, "customer": "ada", "amount": None, "day": None}, 1))
    known: Any = ORDERS["columns"]
    columns = [*known, {"name": "note", "type": "utf8"}]
    answer = client.put("/v1/sources/orders", json={**ORDERS, "columns": columns})
    assert answer.status_code == 200
    for found in (answer.json(), client.get("/v1/sources/orders").json()):
        assert [c["name"] for c in found["columns"]] == [c["name"] for c in columns]
    query = {"query": "SELECT id, note FROM orders"}
    assert client.put("/v1/views/notes", json=query).status_code == 201
    row = {"id": 2, "customer": "ada", "amount": None, "day": None, "note": "new"}
    pipeline.deliver("orders", (row, 1))
    answer = client.get("/v1/views/notes/rows?scan=true")
    assert answer.json()["rows"] == [{"id": 1, "note": None}, {"id": 2, "note": "new"}]
    answer = client.get("/v1/views/totals/rows?scan=true")
    assert [row["orders"] for row in answer.json()["rows"]] == [2]


def test_a_view_is_replaced_once_its_preview_is_approved(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "5.00"), 1), (order(2, "ada", "2.50"), 1))
    query = TOTALS["query"].replace("GROUP", "WHERE id > 1 GROUP")
    answer = client.put("/v1/views/totals", json={"query": query, "replace": True})
    assert answer.status_code == 202
    found = client.get("/v1/views/totals/replacement").json()
    assert (found["status"], found["rows_in"], found["rows_out"]) == ("ready", 1, 1)
    assert found["sample_out"] == [{"customer": "ada", "orders": 2, "total": "7.50"}]
    wrong = client.post("/v1/views/totals/approve", json={"version": "other"})
    assert (wrong.status_code, wrong.json()["code"]) == (409, "preview-outdated")
    version = {"version": found["version"], "time": found["time"]}
    assert client.post("/v1/views/totals/approve", json=version).status_code == 200
    [row] = client.get("/v1/views/totals/rows", params={"customer": "ada"}).json()["rows"]
    assert row == {"customer": "ada", "orders": 1, "total": "2.50"}
    assert client.get("/v1/views/totals/replacement").status_code == 404


def test_a_replacement_is_discarded(client: TestClient, pipeline: DirectPipeline) -> None:
    client.put("/v1/views/totals", json={"query": "SELECT id FROM orders", "replace": True})
    assert client.post("/v1/views/totals/discard").status_code == 204
    assert client.get("/v1/views/totals").json()["query"] == TOTALS["query"]
    assert client.post("/v1/views/totals/discard").status_code == 404


def test_the_same_definition_replaces_nothing(client: TestClient, pipeline: DirectPipeline) -> None:
    answer = client.put("/v1/views/totals", json={**TOTALS, "replace": True})
    assert answer.status_code == 200


def test_a_view_that_is_not_there_is_made(client: TestClient, pipeline: DirectPipeline) -> None:
    body = {"query": "SELECT id FROM orders", "replace": True}
    assert client.put("/v1/views/ids", json=body).status_code == 201


def test_a_dry_run_of_a_view_keeps_nothing(client: TestClient, pipeline: DirectPipeline) -> None:
    def would(name: str, **body: Any) -> Any:
        return client.put(f"/v1/views/{name}", json={**body, "dry_run": True}).json()

    made = would("ids", query="SELECT id FROM orders")
    assert (made["would"], made["columns"][0]["name"]) == ("create", "id")
    assert client.get("/v1/views/ids").status_code == 404
    assert would("totals", **TOTALS)["would"] == "nothing"
    assert would("totals", query="SELECT id FROM orders")["code"] == "different-definition"
    assert would("totals", query="SELECT id FROM orders", replace=True)["would"] == "replace"
    assert client.get("/v1/views/totals/replacement").status_code == 404
    assert would("orders", query="SELECT id FROM orders")["code"] == "name-taken"


def test_a_dry_run_of_a_source_keeps_nothing(client: TestClient, pipeline: DirectPipeline) -> None:
    def would(name: str, **body: Any) -> Any:
        return client.put(f"/v1/sources/{name}", json={**ORDERS, **body, "dry_run": True}).json()

    assert would("others")["would"] == "create"
    assert client.get("/v1/sources/others").status_code == 404
    assert would("orders")["would"] == "nothing"
    assert would("orders", on_error="stall")["would"] == "alter"
    columns = [*client.get("/v1/sources/orders").json()["columns"], {"name": "n", "type": "text"}]
    assert would("orders", columns=columns)["would"] == "alter"
    assert would("orders", key=["customer"])["code"] == "different-definition"
    assert would("totals")["code"] == "name-taken"
    assert len(client.get("/v1/sources/orders").json()["columns"]) == 4


def test_a_source_of_other_columns_and_another_key_is_another_definition(
    client: TestClient,
) -> None:
    assert client.put("/v1/sources/orders", json=ORDERS).status_code == 201
    other = {**ORDERS, "columns": [{"name": "sku", "type": "utf8"}], "key": ["sku"]}
    answer = client.put("/v1/sources/orders", json=other)
    assert (answer.status_code, answer.json()["code"]) == (409, "different-definition")
