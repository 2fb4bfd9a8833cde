"""What grows is bounded: deltas, posted rows that all checkpoints hold, records put aside."""

from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from connectors.files.layout import bases
from tests.unit.api.filed import close_all, make_runtime, pipeline_of, runtime_on, take_checkpoint
from tests.unit.api.test_checkpoints import rows

GUESTS = {"connector": "http", "columns": [{"name": "id", "type": "int64"}], "key": ["id"]}
COUNT = {"query": "SELECT count(*) AS guests FROM guests"}


@pytest.fixture
def settings(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Segments of a request each, which are beyond retention at once."""
    monkeypatch.setattr("connectors.files.requests.SEGMENT_BYTES", 1)
    small = {"delta_segment_bytes": 1, "delta_retention_bytes": 1}
    return {"rows_retention_seconds": 1e-6, "clean_seconds": 0.02, **small}


def test_posted_rows_go_once_all_checkpoints_hold_them_and_a_start_goes_on(
    tmp_path: Path, settings: dict[str, Any]
) -> None:
    runtime = make_runtime(tmp_path, **{**settings, "clean_seconds": 1_000})
    topic = tmp_path / "topics" / "guests" / "0"
    with TestClient(create_app(runtime)) as client:
        runtime.readiness.wait()
        assert client.put("/v1/sources/guests", json=GUESTS).status_code == 201
        assert client.put("/v1/views/guests_now", json=COUNT).status_code == 201

        def post(number: int) -> None:
            client.post("/v1/sources/guests/rows", json=[{"id": number}]).raise_for_status()
            pipeline_of(runtime).step()

        for number in range(4):
            post(number)
        runtime.cleaning.clean()
        assert bases(topic) == [0, 1, 2, 3], "no checkpoint holds them"
        take_checkpoint(runtime)
        for number in range(4, 6):
            post(number)
        runtime.cleaning.clean()
        assert bases(topic)[0] == 0, "a start from the one before would read them"
        take_checkpoint(runtime)
        runtime.cleaning.clean()
        assert bases(topic) == [4, 5]
        post(6)
    close_all()
    again = runtime_on(tmp_path, **settings)
    assert rows(again, "guests_now") == [{"guests": 7}]


def test_it_is_cleaned_by_itself(tmp_path: Path, settings: dict[str, Any]) -> None:
    runtime = make_runtime(tmp_path, **settings)
    topic = tmp_path / "topics" / "deltas.guests_now" / "0"
    with TestClient(create_app(runtime)) as client:
        runtime.readiness.wait()
        assert client.put("/v1/sources/guests", json=GUESTS).status_code == 201
        assert client.put("/v1/views/guests_now", json=COUNT).status_code == 201
        for number in range(6):
            client.post("/v1/sources/guests/rows", json=[{"id": number}]).raise_for_status()
            pipeline_of(runtime).step()
        for _ in range(500):
            if len(bases(topic)) <= 3:
                break
            runtime.cleaning._stopped.wait(0.02)
        assert len(bases(topic)) <= 3
