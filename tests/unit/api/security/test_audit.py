"""The audit log has a line for each change, and for each that was refused, and no secret."""

from fastapi.testclient import TestClient
from structlog.testing import capture_logs

from tests.unit.api.conftest import TOTALS


def test_a_change_is_noted_with_who_made_it(client: TestClient, admin: dict[str, str]) -> None:
    with capture_logs() as lines:
        client.put("/v1/views/again", json=TOTALS, headers=admin)
    [line] = [line for line in lines if line["event"] == "audit"]
    assert line["by"].startswith("key eve (")
    told = (line["method"], line["path"], line["outcome"], line["client"])
    assert told == ("PUT", "/v1/views/again", 201, "testclient")


def test_so_is_one_that_was_refused(client: TestClient) -> None:
    with capture_logs() as lines:
        client.delete("/v1/views/totals", headers={"authorization": "Bearer ivm_1_canary"})
    [line] = [line for line in lines if line["event"] == "audit"]
    assert (line["by"], line["outcome"]) == ("nobody", "unauthorized")
    assert "canary" not in str(lines)


def test_questions_are_not_noted(client: TestClient, admin: dict[str, str]) -> None:
    with capture_logs() as lines:
        client.get("/v1/views", headers=admin)
        client.post("/v1/query", json={"query": "SELECT 1"}, headers=admin)
    assert not [line for line in lines if line["event"] == "audit"]
