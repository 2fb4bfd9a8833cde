"""The example of docs/changing.md answers as the page says."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from tests.unit.api.conftest import ORDERS, make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order

PAGE = Path(__file__).parents[2] / "docs" / "changing.md"
BLOCK = re.compile(r"```(?:sql|json)\n(.*?)```", re.DOTALL)
QUERY, REPLACEMENT, PREVIEW, APPROVAL = BLOCK.findall(PAGE.read_text())
# Members that differ from run to run.
VARIES = {"version", "time"}


@pytest.fixture
def client(tmp_path: Path) -> Any:
    """A service with the page's view over orders of two customers."""
    runtime = make_runtime(tmp_path)
    with TestClient(create_app(runtime)) as client:
        assert client.put("/v1/sources/orders", json=ORDERS).status_code == 201
        assert client.put("/v1/views/totals", json={"query": QUERY}).status_code == 201
        pipeline: Any = runtime.pipeline
        assert isinstance(pipeline, DirectPipeline)
        orders = [("ada", "7.50"), ("ada", "2.00"), ("bob", "1.00")]
        pipeline.deliver("orders", *((order(n, *o), 1) for n, o in enumerate(orders, 1)))
        yield client


def test_the_preview_and_the_approval_are_as_the_page_says(client: TestClient) -> None:
    answer = client.put("/v1/views/totals", json=json.loads(REPLACEMENT))
    assert answer.status_code == 202
    found = client.get("/v1/views/totals/replacement").json()
    told = json.loads(PREVIEW)
    assert {name: found[name] for name in told.keys() - VARIES} == {
        name: told[name] for name in told.keys() - VARIES
    }
    approval = {name: found[name] for name in json.loads(APPROVAL)}
    assert client.post("/v1/views/totals/approve", json=approval).status_code == 200
    rows = client.get("/v1/views/totals/rows", params={"scan": "true"}).json()["rows"]
    assert rows == told["sample_in"]
