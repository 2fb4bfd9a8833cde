"""A service that asks for keys, and callers with each kind of them."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.security.keyring import add_key
from api.security.keys import ApiKey, create_secret, hashed, written
from api.security.principal import Role
from tests.unit.api.conftest import ORDERS, TOTALS, make_runtime
from tests.unit.api.filed import close_all

Caller = Callable[..., dict[str, str]]


def make_key(data: Path, role: Role, seconds: float | None = None, **options: Any) -> str:
    """A key in the file of a data directory, which may expire after some seconds."""
    named, secret = create_secret()
    now = datetime.now(UTC)
    expires = None if seconds is None else now + timedelta(seconds=seconds)
    given = {"id": named, "hash": hashed(secret), "created": now, "expires": expires, **options}
    add_key(data / "keys.json", ApiKey(name="eve", role=role, **given))
    return written(named, secret)


def bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"}


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    yield
    close_all()


@pytest.fixture
def admin(tmp_path: Path) -> dict[str, str]:
    """The headers of an admin, whose key is there before the service starts."""
    return bearer(make_key(tmp_path, Role.admin))


@pytest.fixture
def client(tmp_path: Path, admin: dict[str, str]) -> Iterator[TestClient]:
    """A client without a key of a service with the source `orders` and the view `totals`."""
    runtime = make_runtime(tmp_path, wait_seconds=0.05)
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        runtime.readiness.wait()
        assert client.put("/v1/sources/orders", json=ORDERS, headers=admin).status_code == 201
        assert client.put("/v1/views/totals", json=TOTALS, headers=admin).status_code == 201
        yield client


@pytest.fixture
def key_of(tmp_path: Path) -> Caller:
    """The headers of a key of a role, which a service takes that starts after it was made."""

    def made(role: Role, **options: Any) -> dict[str, str]:
        return bearer(make_key(tmp_path, role, **options))

    return made
