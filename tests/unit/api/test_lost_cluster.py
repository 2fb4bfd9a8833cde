"""A service that has lost its cluster, and ends so that it can begin anew."""

from pathlib import Path

import pytest
from structlog.testing import capture_logs

from api.services import parts
from tests.unit.api.conftest import make_runtime
from tests.unit.api.engines import choose


def test_it_ends_without_a_checkpoint_and_without_waiting_for_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    abandoned: list[bool] = []
    monkeypatch.setattr(parts, "abandon_session", lambda: abandoned.append(True))
    choose("cluster", monkeypatch)
    runtime = make_runtime(tmp_path)
    runtime.start()
    assert runtime.cluster is not None
    runtime.cluster.give_up("a shard has gone")
    with capture_logs() as lines:
        runtime.stop(checkpoints=True)
    assert not [line for line in lines if line["log_level"] == "error"]
    assert abandoned


def test_one_that_is_told_to_end_waits_for_spark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    abandoned: list[bool] = []
    monkeypatch.setattr(parts, "abandon_session", lambda: abandoned.append(True))
    choose("cluster", monkeypatch)
    runtime = make_runtime(tmp_path)
    runtime.start()
    runtime.stop()
    runtime.stop()
    assert not abandoned
