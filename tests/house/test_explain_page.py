"""Every plan of docs/explain.md is the service's own, but for figures of bytes and time."""

import json
import re
from collections.abc import Iterator
from typing import Any, cast

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from tests.house.test_docs import BLOCK, DOCS
from tests.unit.api.conftest import make_runtime
from tests.unit.api.direct import DirectPipeline

BLOCKS = [block for block in BLOCK.findall((DOCS / "explain.md").read_text()) if block[0] != "sh"]
TABLES = json.loads(BLOCKS[0][1])
PLANS = [(q, p) for (_, q), (_, p) in zip(BLOCKS[1::2], BLOCKS[2::2], strict=True)]
FIGURES = re.compile(r"(bytes=|time=|Time: )[\d.]+")


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A service with the page's tables and rows."""
    runtime = make_runtime(tmp_path_factory.mktemp("explained"))
    with TestClient(create_app(runtime)) as client:
        pipeline = cast(DirectPipeline, cast(Any, runtime.pipeline))
        for name, table in TABLES.items():
            columns = [
                {"name": column, "type": kind, "nullable": column in table["key"]}
                for column, kind in table["columns"].items()
            ]
            body = {"columns": columns, "key": table["key"], "replica_identity": "full"}
            assert client.put(f"/v1/sources/{name}", json=body).status_code == 201
            rows = [dict(zip(table["columns"], row, strict=True)) for row in table["rows"]]
            pipeline.deliver(name, *((row, 1) for row in rows))
        yield client


@pytest.mark.parametrize(("query", "plan"), PLANS)
def test_a_plan_is_as_the_page_says(client: TestClient, query: str, plan: str) -> None:
    rows = client.post("/v1/query", json={"query": query}).json()["rows"]
    found = [FIGURES.sub(r"\1…", row["QUERY PLAN"]) for row in rows]
    assert found == FIGURES.sub(r"\1…", plan).splitlines()


def test_the_page_shows_how_a_dear_join_becomes_cheap() -> None:
    assert [re.findall(r"Join .*\(rows=(\d+)", plan) for _, plan in PLANS[:2]] == [["13"], ["4"]]
    assert "rounds=5 to 4" in PLANS[2][1]
