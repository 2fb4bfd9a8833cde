"""A pipeline gives a change a time of its own, and has failed where that cannot be completed."""

from pathlib import Path

import pytest

from connectors.errors import PipelineFailed, ReplayUnderWay
from connectors.ingest.delivery import Delivery
from connectors.ingest.pipeline import Pipeline
from connectors.ingest.settings import PipelineSettings
from connectors.progress.batches import TimedBatch
from connectors.progress.journal import Journal
from connectors.quarantine.store import Quarantine
from tests.unit.connectors.test_delivery import Recorder


@pytest.fixture
def pipeline(tmp_path: Path) -> Pipeline:
    """A pipeline that runs but for Spark: nothing is read."""
    journal, quarantine = Journal(tmp_path / "journal"), Quarantine(tmp_path / "quarantine")
    receiver = Recorder(journal)
    settings = PipelineSettings(tmp_path / "topics", tmp_path / "work")
    made = Pipeline(settings, journal, quarantine, receiver)
    made._delivery = Delivery(journal, quarantine, receiver)
    made._delivery.open()
    made._state = "running"
    return made


def test_times_follow_one_another(pipeline: Pipeline) -> None:
    times: list[int] = []

    def apply(batch: TimedBatch) -> None:
        times.append(batch.time)

    pipeline.at_new_time(apply)
    pipeline.tick()
    pipeline.at_new_time(apply)
    assert times == [1, 3]


def test_what_cannot_be_completed_fails_the_pipeline(pipeline: Pipeline) -> None:
    def apply(batch: TimedBatch) -> None:
        raise OSError("the disk is gone")

    with pytest.raises(PipelineFailed, match="the disk is gone"):
        pipeline.at_new_time(apply)
    assert pipeline.status().state == "failed"
    with pytest.raises(ReplayUnderWay):
        pipeline.at_new_time(apply)


def test_a_pipeline_that_does_not_run_gives_no_times(pipeline: Pipeline) -> None:
    pipeline._state = "replaying"
    with pytest.raises(ReplayUnderWay, match="the pipeline is replaying"):
        pipeline.at_new_time(lambda batch: None)
