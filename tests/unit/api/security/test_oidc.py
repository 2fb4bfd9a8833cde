"""Tokens of the issuer are taken for what they say; forged, expired and strange ones are not."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from fastapi.testclient import TestClient

from api.app import create_app
from api.security import oidc
from api.security.oidc import Oidc
from tests.unit.api.conftest import TOTALS, make_runtime
from tests.unit.api.security.conftest import bearer
from tests.unit.api.security.issuer import AUDIENCE, TestIssuer, listening


@pytest.fixture
def issuer() -> Iterator[TestIssuer]:
    with listening() as found:
        yield found


@pytest.fixture
def client(tmp_path: Path, issuer: TestIssuer) -> Iterator[TestClient]:
    settings = Oidc(
        issuer=issuer.url,
        audience=AUDIENCE,
        roles={"analysts": "read", "platform": "admin"},  # type: ignore[dict-item]  # as in TOML
        role_claim="groups",
        grants_claim=None,
    )
    runtime = make_runtime(tmp_path, oidc=settings)
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        runtime.readiness.wait()
        yield client


def status(client: TestClient, token: str) -> int:
    answer: int = client.get("/v1/views", headers=bearer(token)).status_code
    return answer


def test_a_token_has_the_highest_role_of_its_groups(client: TestClient, issuer: TestIssuer) -> None:
    reader = issuer.token(groups=["analysts", "others"])
    admin = issuer.token(groups=["analysts", "platform"])
    query = {"query": "SELECT 1 AS one"}
    assert status(client, reader) == 200
    assert client.put("/v1/views/one", json=query, headers=bearer(reader)).status_code == 403
    assert client.put("/v1/views/one", json=query, headers=bearer(admin)).status_code == 201


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": time.time() - 3600},
        {"exp": None},
        {"aud": "others"},
        {"aud": None},
        {"iss": "https://evil.example"},
        {"nbf": time.time() + 3600},
        {"groups": "nobody"},
        {"groups": None},
        {"groups": {"analysts": 1}},
    ],
)
def test_a_token_that_does_not_hold_is_refused(
    client: TestClient, issuer: TestIssuer, claims: dict[str, Any]
) -> None:
    assert status(client, issuer.token(**{"groups": "analysts", **claims})) == 401


def test_a_token_that_others_signed_is_refused(client: TestClient, issuer: TestIssuer) -> None:
    assert status(client, issuer.token(generate_private_key(65537, 2048), groups="platform")) == 401
    assert status(client, issuer.token("k" * 32, groups="platform")) == 401
    whole = issuer.token(groups="analysts")
    head, body, _ = whole.split(".")
    assert status(client, f"{head}.{body}.") == 401
    assert status(client, whole) == 200


def test_keys_of_the_issuer_are_fetched_once_and_again_when_it_changes_them(
    client: TestClient, issuer: TestIssuer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(3):
        assert status(client, issuer.token(groups="analysts", sub=f"user {number}")) == 200
    assert issuer.asked == 1
    issuer.rotate()
    assert status(client, issuer.token(groups="analysts")) == 401  # it was asked just now
    monkeypatch.setattr(oidc, "PAUSE", 0.0)
    assert status(client, issuer.token(groups="analysts")) == 200


def test_an_issuer_that_sends_us_elsewhere_is_not_followed(
    client: TestClient, issuer: TestIssuer
) -> None:
    with listening() as other:
        issuer.moved = f"{other.url}/.well-known/openid-configuration"
        assert status(client, issuer.token(groups="analysts")) == 401
        assert other.asked == 0


def test_a_claim_may_bound_what_a_token_reads(tmp_path: Path, issuer: TestIssuer) -> None:
    settings = Oidc(issuer=issuer.url, audience=AUDIENCE, grants_claim="views")
    runtime = make_runtime(tmp_path, oidc=settings)
    with TestClient(create_app(runtime)) as client:
        for views, expected in ((["totals"], 404), (["other"], 403), (None, 403)):
            headers = bearer(issuer.token(role="admin", views=views))
            assert client.get("/v1/views/totals", headers=headers).status_code == expected
            assert client.put("/v1/views/x", json=TOTALS, headers=headers).status_code == 403


@pytest.mark.parametrize(
    "issuer_url", ["http://issuer.example", "ftp://x", "http://localhost.evil"]
)
def test_an_issuer_is_reached_by_https(issuer_url: str) -> None:
    with pytest.raises(ValueError, match="issuer"):
        Oidc(issuer=issuer_url, audience=AUDIENCE)
