"""`ivm key` makes, lists and revokes keys in the file that the service reads."""

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from api.security.keyring import Keyring, read_keys
from api.security.principal import Role
from connectors.health import PartFault
from tests.unit.api.filed import make_runtime
from tests.unit.api.listening import served
from tests.unit.api.test_cli_rows import run


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("IVM_DATA", str(tmp_path))
    return tmp_path


def create(*options: str) -> str:
    return run("key", "create", "shop", *options).strip()


def test_a_key_is_printed_once_and_good(data: Path) -> None:
    text = create("--role", "write", "--on", "shop_*", "--on", "totals", "--days", "30")
    key = Keyring(data / "keys.json").find(text)
    assert key is not None
    assert (key.role, key.grants) == (Role.write, ("shop_*", "totals"))
    assert key.expires is not None
    assert key.expires - datetime.now(UTC) <= timedelta(days=30)
    assert text.split("_", 2)[2] not in run("key", "list", "--json")


def test_keys_are_listed(data: Path) -> None:
    create("--rate", "5")
    [listed] = json.loads(run("key", "list", "--json"))["keys"]
    assert (listed["name"], listed["role"], listed["on"]) == ("shop", "read", ["*"])
    assert listed["requests_per_second"] == 5
    assert "shop" in run("key", "list")


def test_a_key_is_revoked_by_its_id(data: Path) -> None:
    named = create().split("_")[1]
    assert "revoked the key of shop" in run("key", "revoke", named)
    assert read_keys(data / "keys.json") == []
    assert "there is no key" in run("key", "revoke", named, fails=True)


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (("--role", "boss"), "a role is one of read, write, admin"),
        (("--role", "admin", "--on", "totals"), "leave --on out"),
        (("--rate", "0"), "requests_per_second"),
    ],
)
def test_what_makes_no_key_is_told(options: tuple[str, ...], told: str) -> None:
    assert told in run("key", "create", "shop", *options, fails=True)


def test_status_without_a_key_is_told_that_it_needs_one(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runtime = make_runtime(data, access="keys")
    with served(runtime) as (_, port):
        monkeypatch.setenv("IVM_PORT", str(port))
        monkeypatch.setattr(runtime.readiness, "waits", lambda: [PartFault("a", None, "secret")])
        told = run("status", "--wait", "0.3", fails=True)
    assert "send a key to see why" in told
    assert "secret" not in told
