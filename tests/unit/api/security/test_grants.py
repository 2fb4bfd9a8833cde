"""A grant on some sources and views covers look-ups, feeds, queries, lists and writes."""

import pytest
from fastapi.testclient import TestClient

from api.security import keyring
from api.security.principal import Role
from tests.unit.api.security.conftest import Caller

NO_ROWS = {"query": "SELECT * FROM orders LIMIT 0"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(keyring, "PERIOD", 0.0)


@pytest.fixture
def granted(key_of: Caller) -> dict[str, str]:
    """The headers of a key with a grant on views whose names begin with `tot`."""
    return key_of(Role.write, grants=("tot*",))


def test_it_covers_what_its_patterns_name(client: TestClient, granted: dict[str, str]) -> None:
    for path in ("", "/rows?scan=true", "/operators"):
        assert client.get(f"/v1/views/totals{path}", headers=granted).status_code == 200


@pytest.mark.parametrize(
    "path", ["/v1/sources/orders", "/v1/views/nobody", "/v1/views/orders/changes"]
)
def test_it_covers_nothing_else_and_does_not_tell_what_there_is(
    client: TestClient, granted: dict[str, str], path: str
) -> None:
    answer = client.get(path, headers=granted)
    assert answer.status_code == 403
    assert "grant on tot*" in answer.json()["detail"]


@pytest.mark.parametrize("path", ["/metrics", "/v1/arrangements", "/v1/errors"])
def test_what_tells_of_all_needs_a_grant_on_all(
    client: TestClient, granted: dict[str, str], path: str
) -> None:
    assert client.get(path, headers=granted).status_code == 403


def test_lists_leave_out_the_rest(client: TestClient, granted: dict[str, str]) -> None:
    views = client.get("/v1/views", headers=granted).json()["views"]
    assert [view["name"] for view in views] == ["totals"]
    assert client.get("/v1/sources", headers=granted).json() == {"sources": []}


@pytest.mark.parametrize("path", ["/v1/query", "/v1/explain"])
@pytest.mark.parametrize("query", ["SELECT * FROM orders", "SELECT t.* FROM totals t, orders o"])
def test_a_query_reads_what_the_grant_covers(
    client: TestClient, granted: dict[str, str], path: str, query: str
) -> None:
    assert client.post(path, json={"query": query}, headers=granted).status_code == 403
    covered = {"query": "SELECT * FROM totals"}
    assert client.post(path, json=covered, headers=granted).status_code == 200


def test_so_does_one_that_is_explained(client: TestClient, granted: dict[str, str]) -> None:
    for verb in ("EXPLAIN", "EXPLAIN ANALYZE"):
        asked = {"query": f"{verb} SELECT * FROM orders"}
        assert client.post("/v1/query", json=asked, headers=granted).status_code == 403


def test_rows_are_posted_to_what_it_covers(client: TestClient, granted: dict[str, str]) -> None:
    answer = client.post("/v1/sources/orders/rows", content=b"{}", headers=granted)
    assert answer.status_code == 403


def test_a_reader_with_a_grant_on_all_sees_all(client: TestClient, key_of: Caller) -> None:
    reader = key_of(Role.read)
    assert client.post("/v1/query", json=NO_ROWS, headers=reader).status_code == 200
    assert client.get("/metrics", headers=reader).status_code == 200
