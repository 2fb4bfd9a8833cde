"""An open service is reached by its address alone, and by no page of another site."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.errors import KeysCorrupt, NotSecured
from tests.unit.api.conftest import ORDERS, make_runtime


@pytest.fixture
def client(tmp_path: Path) -> Iterator[TestClient]:
    runtime = make_runtime(tmp_path)
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        runtime.readiness.wait()
        yield client


@pytest.mark.parametrize("host", ["localhost:8080", "127.0.0.1", "[::1]:8080", "ivm:8080", "::1"])
def test_addresses_and_names_of_one_word_are_its_own(client: TestClient, host: str) -> None:
    assert client.get("/v1/views", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "127.0.0.1.evil.example:8080", "1.2.3.4.5", "a.b"]
)
def test_a_name_that_was_made_to_point_here_is_refused(client: TestClient, host: str) -> None:
    answer = client.get("/v1/views", headers={"host": host})
    assert answer.status_code == 403
    assert "allowed_hosts" in answer.json()["detail"]


def test_names_that_are_allowed_are_taken_and_no_others(tmp_path: Path) -> None:
    runtime = make_runtime(tmp_path, allowed_hosts=frozenset({"views.example"}))
    with TestClient(create_app(runtime)) as client:
        runtime.readiness.wait()
        assert client.get("/v1/views", headers={"host": "views.example:443"}).status_code == 200
        assert client.get("/v1/views", headers={"host": "localhost"}).status_code == 403


def test_a_page_of_another_site_changes_nothing(client: TestClient) -> None:
    elsewhere = {"origin": "https://evil.example"}
    assert client.put("/v1/sources/orders", json=ORDERS, headers=elsewhere).status_code == 403
    assert client.delete("/v1/sources/orders", headers={"origin": "null"}).status_code == 403
    own = {"origin": "http://testserver"}
    assert client.put("/v1/sources/orders", json=ORDERS, headers=own).status_code == 201


def test_a_service_for_other_machines_does_not_start_open_by_oversight(tmp_path: Path) -> None:
    runtime = make_runtime(tmp_path, host="0.0.0.0")
    with pytest.raises(NotSecured, match="ivm key create"):
        create_app(runtime)
    runtime.stop()


def test_it_does_where_its_operator_says_so(tmp_path: Path) -> None:
    runtime = make_runtime(tmp_path, host="0.0.0.0", access="open")
    with TestClient(create_app(runtime)) as client:
        assert client.get("/v1/views").status_code == 200


def test_a_service_that_wants_keys_and_has_none_lets_nobody_in(tmp_path: Path) -> None:
    runtime = make_runtime(tmp_path, access="keys")
    with TestClient(create_app(runtime)) as client:
        assert client.get("/v1/views").status_code == 401


def test_a_file_of_keys_that_is_damaged_is_no_reason_to_be_open(tmp_path: Path) -> None:
    (tmp_path / "keys.json").write_text('[{"id": 1}]')
    runtime = make_runtime(tmp_path)
    with pytest.raises(KeysCorrupt, match=r"keys\.json"):
        create_app(runtime)
    runtime.stop()
