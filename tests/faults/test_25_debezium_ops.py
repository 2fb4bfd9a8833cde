"""Row 25 of the test matrix: every op of Debezium, in any order and cut anywhere."""

from pathlib import Path
from random import Random

import pytest

from tests.faults.captured import Captured


@pytest.mark.parametrize("seed", range(4))
def test_ops_leave_the_rows_that_the_database_has(seed: int, tmp_path: Path) -> None:
    random = Random(seed)
    world = Captured(tmp_path, random)
    unknown = 0
    for _ in range(60):
        what = random.random()
        if what < 0.35 or not world.rows:
            world.set(random.choice("cr"), world.absent())
        elif what < 0.6:
            world.set(random.choice("uur"), world.present())
        elif what < 0.8:
            world.delete(world.present())
        elif what < 0.85:
            world.delete(world.absent())
        elif what < 0.9:
            world.truncate()
        elif what < 0.95:
            world.send({"op": "m", "message": {"prefix": "p", "content": ""}})
        else:
            world.send({"op": "x", "before": None, "after": None})
            unknown += 1
        if random.random() < 0.3:
            world.read()
        if random.random() < 0.04:
            world.restart()
    world.catch_up()
    world.judge()
    counts = world.runtime.quarantine.counts()
    assert counts.get(("people", "people", "unknown-op"), 0) == unknown == sum(counts.values())


def test_changes_are_counted_by_their_kind(tmp_path: Path) -> None:
    world = Captured(tmp_path, Random(1))
    world.set("c", (1, "b"))
    world.set("u", (1, "b"))
    world.delete((1, "b"))
    world.delete((2, "b"))
    world.truncate()
    world.catch_up()
    meter = world.runtime.meter
    assert {kind: n for (_, kind), n in meter.keyed_changes.items()} == {
        "set": 2,
        "delete": 2,
        "truncate": 1,
    }
    assert meter.absent_deletes == {"people": 1}
