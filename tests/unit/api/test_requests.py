"""Requests are counted by their operation and outcome, whatever callers ask."""

from fastapi.testclient import TestClient
from prometheus_client.parser import text_string_to_metric_families

from tests.unit.api.direct import DirectPipeline


def samples(client: TestClient) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(client.get("/metrics").text)
    return {(s.name, *s.labels.values()): s.value for f in families for s in f.samples}


def test_look_ups_are_counted_and_timed_by_their_operation(
    client: TestClient, pipeline: DirectPipeline
) -> None:
    for customer in ("ada", "bob"):
        client.get("/v1/views/totals/rows", params={"customer": customer})
    client.get("/v1/views/nothing/rows")
    found = samples(client)
    path = "/v1/views/{name}/rows"
    assert found["ivm_requests_total", "GET", path, "200"] == 2
    assert found["ivm_requests_total", "GET", path, "404"] == 1
    assert found["ivm_request_seconds_count", "GET", path] == 3


def test_paths_and_methods_that_nobody_declared_make_one_series(client: TestClient) -> None:
    for number in range(3):
        client.get(f"/nowhere/{number}")
        client.request(f"ODD{number}", "/nowhere")
    found = samples(client)
    assert found["ivm_requests_total", "GET", "other", "404"] == 3
    assert found["ivm_requests_total", "other", "other", "404"] == 3


def test_a_request_is_in_progress_while_it_is_answered(client: TestClient) -> None:
    assert samples(client)["ivm_requests_in_progress",] == 1
