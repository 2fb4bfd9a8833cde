"""`Client` has a method for each operation of the service, as its description lists them."""

import re
from pathlib import Path
from typing import Any

import httpx
import pytest

from api.app import create_app
from ivm_client import Client
from tests.unit.api.filed import make_runtime
from tests.unit.client.conftest import TOTALS, Listening

LARGE = TOTALS.replace("GROUP", "WHERE amount > 5 GROUP")
BAD = ("bad", 0, 0)


@pytest.fixture(scope="module")
def operations(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """Each operation of the service: its method and the template of its path."""
    runtime = make_runtime(tmp_path_factory.mktemp("described"))
    paths: dict[str, Any] = create_app(runtime).openapi()["paths"]
    runtime.stop()
    return {f"{method.upper()} {path}" for path, found in paths.items() for method in found}


@pytest.fixture
def asked(client: Client) -> set[tuple[str, str]]:
    """The requests that the client makes."""
    found: set[tuple[str, str]] = set()

    def note(request: httpx.Request) -> None:
        found.add((request.method, request.url.path))

    client.service._http.event_hooks["request"].append(note)
    return found


def call_all(client: Client, listening: Listening, place: Path) -> None:
    """Call every method of the client that asks the service for something."""
    assert client.backup(place / "ivm.tar") == (place / "ivm.tar").stat().st_size
    client.is_alive(), client.readiness(), client.metrics()
    listening.put_record("bad", b"{")
    found = client.infer("bad")
    assert found.declaration["topic"] == "bad"
    columns = [{"name": "id", "type": "bigint"}]
    client.create_source(
        "bad",
        topic="bad",
        columns=columns,
        key=["id"],
        replica_identity="full",
        on_error="quarantine",
    )
    client.write("orders", [{"id": 1, "customer": "ada", "amount": 7}])
    listening.pipeline.step()
    client.source("orders"), client.sources(), client.view("totals"), client.views()
    list(client.rows("totals")), next(client.follow("totals")), client.query("SELECT 1")
    client.explain(TOTALS), client.operators("totals"), client.arrangements(), client.errors()
    client.cluster()
    preview = client.replace_view("totals", LARGE)
    assert client.replacement("totals")["version"] == preview["version"]
    client.approve("totals", preview["version"])
    client.replace_view("totals", TOTALS)
    client.discard("totals")
    client.rename_view("totals", "sums"), client.retry_view("sums")
    client.drop_view("sums")
    client.drop_source("orders")
    quarantine = client.quarantine
    [record] = quarantine.records("bad")
    assert record["status"] == quarantine.record(*BAD)["status"] == "open"
    assert quarantine.replay_all("bad")["refused"]
    assert quarantine.discard(*BAD)["status"] == "discarded"
    quarantine.repair(*BAD, {"value": '{"op":"c","before":null,"after":{"id":1}}'})
    assert quarantine.replay(*BAD)["status"] == "replayed"
    assert quarantine.purge(table="other") == 0
    quarantine.skip(*BAD)  # nothing stands still before it


def test_the_client_asks_for_everything_that_there_is(
    client: Client,
    listening: Listening,
    asked: set[tuple[str, str]],
    operations: set[str],
    tmp_path: Path,
) -> None:
    call_all(client, listening, tmp_path)
    patterns = {one: re.sub(r"\{[a-z]+\}", "[^/]+", one.split()[1]) for one in operations}
    missing = {
        one
        for one, pattern in patterns.items()
        if not any(m == one.split()[0] and re.fullmatch(pattern, p) for m, p in asked)
    }
    assert missing == set()
