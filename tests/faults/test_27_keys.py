"""Row 27 of the test matrix: keys that change, come back, or are missing."""

from pathlib import Path
from random import Random

import pytest

from tests.faults.captured import Captured


@pytest.mark.parametrize("seed", range(4))
def test_a_row_that_moves_to_another_key_leaves_no_ghost(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    world = Captured(tmp_path, random)
    for _ in range(50):
        what = random.random()
        if what < 0.3 or not world.rows:
            world.set("c", world.absent())
        elif what < 0.7:
            world.move(world.present(), world.absent())
        elif what < 0.85:
            here, there, free = world.present(), world.present(), world.absent()
            if here != there:  # two rows change places
                world.move(here, free)
                world.move(there, here)
                world.move(free, there)
        else:
            world.set("u", world.present())
        if random.random() < 0.3:
            world.read()
        if random.random() < 0.04:
            world.restart()
    world.catch_up()
    world.judge()


def test_a_record_without_its_key_is_put_aside(tmp_path: Path) -> None:
    world = Captured(tmp_path, Random(0))
    world.set("c", (1, "b"))
    world.send({"op": "u", "before": None, "after": {**world.row((1, "b"), None), "id": None}})
    world.send({"op": "d", "before": {"id": 1}, "after": None})
    world.send({"op": "d", "before": None, "after": None})
    world.catch_up()
    world.judge()
    assert sum(world.runtime.quarantine.counts().values()) == 3
