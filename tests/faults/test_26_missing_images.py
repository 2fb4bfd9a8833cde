"""Row 26 of the test matrix: before images that are missing or partial, and values left out."""

from pathlib import Path
from random import Random

import pytest

from tests.faults.captured import Captured


@pytest.mark.parametrize("seed", range(4))
def test_what_a_record_does_not_say_comes_from_the_row_before(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    world = Captured(tmp_path, random)
    unavailable = 0
    for _ in range(60):
        what = random.random()
        if what < 0.25 or not world.rows:
            world.set("c", world.absent())
        elif what < 0.45:
            world.set("u", world.present(), before=random.random() < 0.5)
        elif what < 0.75:
            world.set("u", world.present(), before=random.random() < 0.5, keep_note=True)
        elif what < 0.85:
            world.set("u", world.absent(), keep_note=True)
            unavailable += 1
        else:
            world.delete(world.present())
        if random.random() < 0.3:
            world.read()
        if random.random() < 0.04:
            world.restart()
    world.catch_up()
    world.judge()
    counts = world.runtime.quarantine.counts()
    assert counts.get(("people", "people", "unavailable-value"), 0) == unavailable
    assert sum(counts.values()) == unavailable
