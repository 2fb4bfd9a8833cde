"""Row 28 of the test matrix: a connector that restarts sends again what it had sent."""

from pathlib import Path
from random import Random
from typing import Any

import orjson
import pytest

from tests.faults.captured import Captured


def position(envelope: dict[str, Any] | None) -> list[int]:
    """Where a record stands in the database; a tombstone stands nowhere."""
    if envelope is None:
        return []
    return [int(n) for n in orjson.loads(envelope["source"]["sequence"])]


def send_again(world: Captured, random: Random) -> int:
    """Send a suffix of the records again, from the first of a position on: how many had one."""
    places = [position(envelope) for envelope in world.sent]
    known = [place for place in places if place]
    earlier = [i for i, place in enumerate(places) if place and place < known[-1]]
    starts = [i for i in earlier if places.index(places[i]) == i]
    if not starts:
        return 0
    suffix = world.sent[random.choice(starts) :]
    for envelope in suffix:
        world.send(envelope, again=True)
    return sum(envelope is not None for envelope in suffix)


@pytest.mark.parametrize("seed", range(6))
def test_what_comes_again_takes_no_view_back(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    world = Captured(tmp_path, random)
    again = 0
    for _ in range(50):
        what = random.random()
        if what < 0.3 or not world.rows:
            world.set("c", world.absent())
        elif what < 0.6:
            world.set("u", world.present(), keep_note=random.random() < 0.3)
        elif what < 0.8:
            world.delete(world.present())
        elif what < 0.85:
            world.truncate()
        elif what < 0.95:
            again += send_again(world, random)
        if random.random() < 0.3:
            world.read()
        if random.random() < 0.04:
            world.restart()
    again += send_again(world, random)
    world.set("c", world.absent())
    world.catch_up()
    world.judge()
    assert again > 0


def test_repetitions_are_counted(tmp_path: Path) -> None:
    random = Random(3)
    world = Captured(tmp_path, random)
    for _ in range(20):
        world.set("c", world.absent())
    again = send_again(world, random)
    world.catch_up()
    assert world.runtime.meter.duplicates == {"people": again}
