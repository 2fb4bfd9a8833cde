"""Who has no good key gets 401, and 403 whose role does not reach; the others are answered."""

import base64
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.security import keyring
from api.security.keyring import read_keys, revoke_key, write_keys
from api.security.principal import Role
from api.security.rules import RULES
from tests.unit.api.conftest import TOTALS
from tests.unit.api.security.conftest import Caller, bearer, make_key

QUERY = {"query": "SELECT count(*) AS n FROM orders"}


@pytest.fixture(autouse=True)
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The file of keys is looked at by every request."""
    monkeypatch.setattr(keyring, "PERIOD", 0.0)


def url(path: str) -> str:
    return path.format(name="totals", table="orders", partition=0, offset=0)


@pytest.mark.parametrize(("method", "path"), RULES)
def test_every_operation_refuses_who_has_no_key(client: TestClient, method: str, path: str) -> None:
    answer = client.request(method, url(path), json={})
    assert answer.status_code in (401, 429)  # a stranger who asks too often
    assert answer.json()["code"] in ("unauthorized", "too-many-requests")


@pytest.mark.parametrize("path", ["/docs", "/openapi.json", "/v1/nowhere"])
def test_so_does_whatever_else_there_is(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 401


def test_probes_need_no_key_and_learn_the_status_alone(client: TestClient) -> None:
    assert client.get("/healthz").json() == {"status": "alive"}
    assert client.get("/readyz").json()["status"] == "ready"


def test_a_refusal_says_how_to_send_a_key(client: TestClient) -> None:
    answer = client.get("/v1/views")
    assert "Authorization: Bearer" in answer.json()["detail"]
    assert answer.headers["www-authenticate"].startswith("Bearer")


def needs(role: Role) -> list[tuple[str, str]]:
    return [operation for operation, (needed, _) in RULES.items() if needed > role]


@pytest.mark.parametrize(("method", "path"), needs(Role.read))
def test_a_reader_may_change_nothing(
    client: TestClient, key_of: Caller, method: str, path: str
) -> None:
    answer = client.request(method, url(path), json=TOTALS, headers=key_of(Role.read))
    assert answer.status_code == 403
    assert "role read" in answer.json()["detail"]


@pytest.mark.parametrize(("method", "path"), needs(Role.write))
def test_a_writer_may_declare_nothing(
    client: TestClient, key_of: Caller, method: str, path: str
) -> None:
    assert (
        client.request(method, url(path), json=TOTALS, headers=key_of(Role.write)).status_code
        == 403
    )


def test_a_reader_reads(client: TestClient, key_of: Caller) -> None:
    reader = key_of(Role.read)
    assert client.get("/v1/views/totals/rows?scan=true", headers=reader).status_code == 200
    assert client.post("/v1/query", json=QUERY, headers=reader).json()["rows"] == [{"n": 0}]


def test_a_key_may_come_as_a_password_as_of_browsers(client: TestClient, tmp_path: Path) -> None:
    key = make_key(tmp_path, Role.read)
    given = base64.b64encode(f"me:{key}".encode()).decode()
    assert client.get("/v1/views", headers={"authorization": f"Basic {given}"}).status_code == 200


@pytest.mark.parametrize(
    "header",
    [
        "",
        "Bearer",
        "Bearer ",
        "Bearer ivm_",
        "Bearer ivm__",
        "Basic !!!",
        "Basic ////",
        "Bearer a.b.c",
    ],
)
def test_what_is_no_key_is_refused(client: TestClient, header: str) -> None:
    assert client.get("/v1/views", headers={"authorization": header}).status_code == 401


def test_a_secret_of_another_key_is_refused(client: TestClient, tmp_path: Path) -> None:
    one, other = (make_key(tmp_path, Role.read) for _ in range(2))
    mixed = "_".join([*one.split("_")[:2], other.split("_", 2)[2]])
    assert client.get("/v1/views", headers=bearer(mixed)).status_code == 401


def test_a_key_in_the_url_or_a_cookie_is_no_key(client: TestClient, tmp_path: Path) -> None:
    key = make_key(tmp_path, Role.read)
    assert client.get(f"/v1/views?key={key}&authorization={key}").status_code == 401
    assert (
        client.get("/v1/views", headers={"cookie": f"authorization=Bearer {key}"}).status_code
        == 401
    )


def test_an_expired_key_is_refused(client: TestClient, key_of: Caller) -> None:
    assert client.get("/v1/views", headers=key_of(Role.read, seconds=-1)).status_code == 401


def test_a_key_is_taken_and_revoked_while_the_service_runs(
    client: TestClient, tmp_path: Path
) -> None:
    key = make_key(tmp_path, Role.read)
    assert client.get("/v1/views", headers=bearer(key)).status_code == 200
    revoke_key(tmp_path / "keys.json", key.split("_")[1])
    assert client.get("/v1/views", headers=bearer(key)).status_code == 401


def test_a_file_of_keys_that_is_damaged_lets_nobody_in(
    client: TestClient, admin: dict[str, str], tmp_path: Path
) -> None:
    keys = read_keys(tmp_path / "keys.json")
    (tmp_path / "keys.json").write_text("[{")
    assert client.get("/v1/views", headers=admin).status_code == 401
    write_keys(tmp_path / "keys.json", keys)
    assert client.get("/v1/views", headers=admin).status_code == 200


def test_the_file_has_no_secret_and_is_its_owners_alone(tmp_path: Path) -> None:
    key = make_key(tmp_path, Role.read)
    file = tmp_path / "keys.json"
    assert key.split("_", 2)[2] not in file.read_text()
    assert file.stat().st_mode & 0o077 == 0


def test_a_key_has_its_own_rate(client: TestClient, key_of: Caller) -> None:
    slow = key_of(Role.read, requests_per_second=1.0)
    statuses = [client.get("/v1/views", headers=slow).status_code for _ in range(5)]
    assert statuses[0] == 200
    assert statuses[-1] == 429


def test_a_key_has_its_own_limit_of_bodies(client: TestClient, key_of: Caller) -> None:
    small = key_of(Role.read, body_bytes=100)
    answer = client.post("/v1/query", json={"query": "SELECT 1" + " " * 100}, headers=small)
    assert answer.status_code == 413
