"""What clients are told where memory is short."""

import errno

import pytest
from fastapi.testclient import TestClient

import ivm.installed.reads
import ivm.installed.steps
import ivm.installer
from api.runtime import Runtime
from ivm.errors import OutOfMemory
from tests.unit.api.conftest import ORDERS, TOTALS
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order


def _short(*_: object) -> None:
    raise MemoryError("no memory for a batch of an arrangement")


def _full(*_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")


def test_a_look_up_for_which_memory_is_short_is_a_507_that_names_the_view(
    client: TestClient, pipeline: DirectPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(ivm.installed.reads, "snapshot", _short)
        answer = client.get("/v1/views/totals/rows", params={"customer": "ada"})
    assert answer.status_code == 507
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "out-of-memory"
    assert "'totals'" in answer.json()["detail"]
    assert client.get("/v1/views/totals/rows", params={"customer": "ada"}).status_code == 200


def test_a_view_for_which_memory_is_short_is_a_507_and_is_not_there(
    client: TestClient, pipeline: DirectPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(ivm.installer, "Assembly", _short)
        answer = client.put("/v1/views/more", json=TOTALS)
    assert (answer.status_code, answer.json()["code"]) == (507, "out-of-memory")
    assert client.get("/v1/views/more").status_code == 404
    assert client.put("/v1/views/more", json=TOTALS).status_code == 201


def test_a_view_for_which_the_disk_is_full_is_a_507_and_is_not_there(
    client: TestClient, pipeline: DirectPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr("connectors.sinks.deltas.DeltaSink.write", _full)
        answer = client.put("/v1/views/more", json=TOTALS)
    assert (answer.status_code, answer.json()["code"]) == (507, "no-space-left")
    assert client.get("/v1/views/more").status_code == 404
    assert client.put("/v1/views/more", json=TOTALS).status_code == 201


@pytest.mark.parametrize("file", ["api.registry.stage", "connectors.progress.journal.append"])
def test_a_source_is_dropped_everywhere_or_nowhere_where_the_disk_is_full(
    client: TestClient, pipeline: DirectPipeline, monkeypatch: pytest.MonkeyPatch, file: str
) -> None:
    client.delete("/v1/views/totals")
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    with monkeypatch.context() as patched:
        patched.setattr(file, _full)
        assert client.delete("/v1/sources/orders").status_code == 507
    assert client.get("/v1/sources/orders").status_code == 200
    assert client.put("/v1/views/totals", json=TOTALS).status_code == 201
    pipeline.deliver("orders", (order(2, "ada", "1"), 1))
    answer = client.get("/v1/views/totals/rows", params={"customer": "ada"}).json()
    assert answer["rows"][0]["orders"] == 2
    client.delete("/v1/views/totals")
    assert client.delete("/v1/sources/orders").status_code == 204
    assert client.put("/v1/sources/orders", json=ORDERS).status_code == 201


def test_a_source_that_cannot_be_read_for_a_full_disk_is_not_there(
    client: TestClient, pipeline: DirectPipeline, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(DirectPipeline, "add_table", _full)
        assert client.put("/v1/sources/more", json=ORDERS).status_code == 507
    assert client.get("/v1/sources/more").status_code == 404
    assert client.put("/v1/sources/more", json=ORDERS).status_code == 201


def test_a_pool_whose_step_failed_serves_readers_and_refuses_changes_with_a_503(
    client: TestClient,
    pipeline: DirectPipeline,
    runtime: Runtime,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1))
    with monkeypatch.context() as patched:
        patched.setattr(ivm.installed.steps.Steps, "_step", _short)
        with pytest.raises(OutOfMemory):
            runtime.pool.advance(runtime.pool.frontier + 1)
    answer = client.put("/v1/views/more", json=TOTALS)
    assert (answer.status_code, answer.json()["code"]) == (503, "pool-failed")
    assert int(answer.headers["retry-after"]) > 0
    assert "a step did not complete" in answer.json()["detail"]
    found = client.get("/v1/views/totals/rows", params={"customer": "ada"})
    assert (found.status_code, found.json()["rows"][0]["orders"]) == (200, 1)
