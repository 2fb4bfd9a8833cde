"""A service over a pipeline without Spark, its client, and the pipeline to feed it by."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.runtime import Runtime
from api.settings import Settings
from tests.unit.api.described import Described
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.engines import ENGINES, choose
from tests.unit.api.filed import close_all

ORDERS = {
    "columns": [
        {"name": "id", "type": "int64"},
        {"name": "customer", "type": "utf8", "nullable": False},
        {"name": "amount", "type": "decimal128(12, 2)"},
        {"name": "day", "type": "date32"},
    ],
    "key": ["id"],
    "replica_identity": "full",
}
TOTALS = {
    "query": "SELECT customer, count(*) AS orders, sum(amount) AS total FROM orders GROUP BY 1"
}


def make_runtime(data: Path, **settings: Any) -> Runtime:
    """A runtime on `data` whose pipeline is direct."""
    given = {"workers": 1, "on_error": "quarantine", **settings}
    return Runtime(Settings(data=data, **given), cast(Any, DirectPipeline))


@pytest.fixture(autouse=True)
def _closing() -> Iterator[None]:
    """After a test nothing of its services stays open."""
    yield
    close_all()


@pytest.fixture(params=ENGINES)
def engine(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """A test that uses this is run on each engine."""
    choose(request.param, monkeypatch)


@pytest.fixture
def runtime(tmp_path: Path) -> Runtime:
    return make_runtime(tmp_path, wait_seconds=0.05)


@pytest.fixture(scope="session")
def document(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The service's description in OpenAPI."""
    runtime = make_runtime(tmp_path_factory.mktemp("described"))
    found = create_app(runtime).openapi()
    runtime.stop()
    return found


@pytest.fixture
def client(runtime: Runtime, document: dict[str, Any]) -> Iterator[TestClient]:
    """A client that holds every answer against its description."""
    with TestClient(create_app(runtime), raise_server_exceptions=False) as client:
        client.event_hooks["response"].append(Described(document))
        yield client


@pytest.fixture
def pipeline(runtime: Runtime, client: TestClient) -> DirectPipeline:
    """The pipeline of a service that has the source `orders` and the view `totals`."""
    assert client.put("/v1/sources/orders", json=ORDERS).status_code == 201
    assert client.put("/v1/views/totals", json=TOTALS).status_code == 201
    return cast(DirectPipeline, cast(Any, runtime.pipeline))
