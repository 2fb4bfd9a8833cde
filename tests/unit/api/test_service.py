"""Health, metrics, quarantine and settings."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from api.app import create_app
from api.runtime import Runtime
from api.settings import Settings
from api.watch import FaultLog
from connectors.health import PartFault
from connectors.ingest.meter import BOUNDS, Histogram, quantile
from connectors.quarantine.store import Rejected
from tests.unit.api.conftest import ORDERS, make_runtime
from tests.unit.api.direct import DirectPipeline
from tests.unit.api.orders import order


def test_a_service_that_runs_is_ready(client: TestClient, pipeline: DirectPipeline) -> None:
    assert client.get("/healthz").status_code == 200
    assert client.get("/readyz").status_code == 200


def test_a_stalled_pipeline_is_told_by_readyz(client: TestClient, pipeline: DirectPipeline) -> None:
    pipeline.state = "stalled"
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert "stalled" in answer.json()["detail"]
    assert [fault["part"] for fault in answer.json()["faults"]] == ["pipeline"]


def test_a_part_at_fault_is_told_by_readyz_with_its_setting(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    fault = PartFault("connection main", "connections.main.bootstrap_servers", "nobody answers")
    pipeline.faults = (fault,)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json()["faults"] == [
        {"part": fault.part, "setting": fault.setting, "detail": "nobody answers"}
    ]
    pipeline.faults = ()
    assert client.get("/readyz").status_code == 200


def test_a_fault_is_logged_when_it_begins_and_when_it_ends() -> None:
    found, fault = FaultLog(), PartFault("pipeline", None, "stalled")
    with capture_logs() as lines:
        for faults in ([], [fault], [fault], []):
            found.observe(faults)
    assert [(line["event"], line["log_level"]) for line in lines] == [
        ("fault", "error"),
        ("fault gone", "info"),
    ]


def test_a_start_that_fails_is_told_and_refuses_changes(tmp_path: Path) -> None:
    runtime = make_runtime(tmp_path)
    runtime.pool.advance(5)
    with TestClient(create_app(runtime)) as client:
        answer = client.put("/v1/sources/orders", json=ORDERS)
        assert answer.status_code == 503
        assert answer.json()["code"] == "pipeline-failed"
        assert client.get("/healthz").status_code == 200
        assert "TimeInPast" in client.get("/readyz").json()["detail"]


def test_metrics_count_what_was_applied(client: TestClient, pipeline: DirectPipeline) -> None:
    pipeline.deliver("orders", (order(1, "ada", "1"), 1), (order(2, "bob", "1"), 1))
    families = text_string_to_metric_families(client.get("/metrics").text)
    samples = {(s.name, *s.labels.values()): s.value for f in families for s in f.samples}
    assert samples["ivm_records_total",] == 2
    assert samples["ivm_updates_total", "orders"] == 2
    assert samples["ivm_deltas_total", "totals"] == 2
    assert samples["ivm_arrangement_records", "orders[id]"] == 2
    assert samples["ivm_latency_seconds_count",] == 2


def test_quarantined_records_are_paged_byte_for_byte(client: TestClient, runtime: Runtime) -> None:
    values = [b'{"op":"x"}', b"\xff\xfe", b"a"]
    runtime.quarantine.add(
        Rejected("orders", "orders", 0, offset, "unknown-op", "why", value, 1)
        for offset, value in enumerate(values)
    )
    first = client.get("/v1/quarantine", params={"limit": 2}).json()
    assert [r["offset"] for r in first["records"]] == [0, 1]
    assert first["records"][0]["value"] == '{"op":"x"}'
    assert first["records"][1]["value_base64"] == "//4="
    rest = client.get("/v1/quarantine", params={"limit": 2, "cursor": first["next"]}).json()
    assert [r["value"] for r in rest["records"]] == ["a"]


def test_an_unknown_path_is_a_problem_document(client: TestClient) -> None:
    answer = client.get("/v2/views")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"


def test_every_resource_is_described(client: TestClient) -> None:
    paths = client.get("/openapi.json").json()["paths"]
    assert "/v1/views/{name}/rows" in paths


@pytest.mark.parametrize("q", [0.5, 0.99])
def test_a_quantile_is_the_bound_of_its_bucket(q: float) -> None:
    histogram = Histogram()
    histogram.observe(BOUNDS[:100])
    assert quantile(histogram.counts, q) == BOUNDS[int(q * 100) - 1]


def test_variables_win_over_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ivm.toml").write_text('port = 9000\nworkers = 3\ndata = "here"\n')
    monkeypatch.setenv("IVM_PORT", "9001")
    settings = Settings()
    assert (settings.port, settings.workers) == (9001, 3)
    assert settings.topics_directory == Path("here/topics")


def test_a_setting_that_does_not_exist_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ivm.toml").write_text("prot = 9000\n")
    with pytest.raises(ValueError, match="prot"):
        Settings()


@pytest.mark.parametrize("content", [b"port = \n", b'port = "\xff"\n'])
def test_a_file_that_is_no_toml_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "ivm.toml").write_bytes(content)
    with pytest.raises(ValueError, match=r"ivm\.toml: "):
        Settings()
