"""Row 1, by what was just done: killed before any durable step of a deed, a service loses nothing.

After each kill the service starts again, does what is left of the deed, and goes on; what it shows
and what readers of its topics fold is the truth each time, and a replay of it all has the digests
that were published.
"""

import multiprocessing
import signal
import uuid
from collections import Counter
from datetime import UTC, datetime
from multiprocessing.process import BaseProcess
from pathlib import Path

import orjson
import pytest

from connectors.files.reader import TopicReader
from connectors.sinks.json_rows import json_rows
from tests.faults.deeds import DEEDS, Place, World, die_amid, do, shown, truth
from tests.faults.publishing import messages, progress
from tests.kafka.client import Kafka

FORKS = multiprocessing.get_context("forkserver")
FORKS.set_forkserver_preload(["tests.faults.deeds"])
MOST_STEPS = 40


@pytest.mark.parametrize("deed", DEEDS)
def test_a_kill_at_any_step_leaves_every_change_published_once(
    deed: str, kafka: Kafka, tmp_path: Path
) -> None:
    dying = die(deed, 1, kafka, tmp_path)
    for step in range(1, MOST_STEPS):
        place, process = dying
        process.join()
        assert process.exitcode == -signal.SIGKILL
        dying = die(deed, step + 1, kafka, tmp_path)  # while what became of this one is judged
        expect_all_once(place, kafka, deed)
        if place.note.exists():
            dying[1].kill()
            return
    raise AssertionError(f"{deed} has more than {MOST_STEPS} durable steps")


def die(deed: str, step: int, kafka: Kafka, directory: Path) -> tuple[Place, BaseProcess]:
    """Start a service that does a deed, and dies before this durable step of it."""
    data = directory / str(step)
    data.mkdir()
    place = Place(data, kafka.address, f"s{uuid.uuid4().hex[:8]}", datetime.now(UTC))
    process = FORKS.Process(target=die_amid, args=(place, deed, step))
    process.start()
    return place, process


def expect_all_once(place: Place, kafka: Kafka, deed: str) -> None:
    world = place.start()
    judge(world, kafka)
    do(world, DEEDS[deed][1])
    world.batch()
    judge(world, kafka)
    world.runtime.stop()
    again = place.start()
    judge(again, kafka)
    again.batch()
    judge(again, kafka)
    again.runtime.stop()


def judge(world: World, kafka: Kafka) -> None:
    """Compare what is shown, and what is published, with what should be."""
    runtime = world.runtime
    records = progress(kafka, world.place.service)
    assert [record.batch for record in records] == list(range(1, len(records) + 1))
    assert runtime.applier.reflected[0] >= records[-1].time, "an older time than was published"
    for view in runtime.registry.catalog.views:
        found = runtime.pool.scan(view.name)
        rows = Counter(map(shown, json_rows(found.rows)))
        assert rows == truth(world, view.query), view.name
        published = runtime.registry.published_as(view.name)
        assert from_file(world.place.data, published) == rows, view.name
        assert runtime.kafka.failed(published) is None
        if view.name in runtime.registry.targets:
            assert from_kafka(kafka, f"{world.place.service}.{published}") == rows, view.name


def from_file(data: Path, view: str) -> Counter[str]:
    """The rows that a view's delta topic leaves."""
    reader = TopicReader(data / "topics", f"deltas.{view}")
    return folded([orjson.loads(line) for line in reader.read(0, 0, reader.ends()[0])])


def from_kafka(kafka: Kafka, topic: str) -> Counter[str]:
    """The rows that the messages of a view's present life leave, each of which came once."""
    found = messages(kafka, topic)
    life = max(message.life for message in found)
    present = [message for message in found if message.life == life]
    assert [message.sequence for message in present] == list(range(len(present)))
    return folded([message.value for message in present])


def folded(values: list[dict[str, object]]) -> Counter[str]:
    rows: Counter[str] = Counter()
    for value in values:
        if isinstance(row := value.get("row"), dict):
            diff = value["diff"]
            assert isinstance(diff, int)
            rows[shown(row)] += diff
    return Counter({row: count for row, count in rows.items() if count})
