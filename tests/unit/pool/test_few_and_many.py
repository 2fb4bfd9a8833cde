"""One worker takes few updates, and all share many: whoever takes them, the answer is one."""

import random
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.nodes import Node
from ivm.pool import Pool
from tests.property.engine import SCHEMAS, Row, new_pool
from tests.property.nodes import NODES

STEPS = (1, 300, 2, 6_000, 1, 3_000, 1)  # updates, some of which threads share
NODES_OF_GRAPH = 1_000
EDGES_AT_ONCE = 200  # more would make a loop long
TEAMS = 2_000  # fewer would make joins on them long
Batch = tuple[str, list[Row], list[int], list[int]]


def _steps(seed: int) -> Iterator[list[Batch]]:
    """For each step the rows of each input, their times and diffs: some go that came before."""
    chance = random.Random(seed)
    there: dict[str, list[Row]] = {name: [] for name in SCHEMAS}
    for number, size in enumerate(STEPS):
        step = []
        for name in SCHEMAS:
            count = min(size, EDGES_AT_ONCE) if name == "edges" else size
            gone = [chance.randrange(len(there[name])) for _ in range(count // 3) if there[name]]
            removed = [there[name][i] for i in set(gone)]
            there[name] = [row for i, row in enumerate(there[name]) if i not in set(gone)]
            rows = [_row(name, chance) for _ in range(count)]
            there[name] += rows
            times = [2 * number + chance.randrange(2) * (number % 2) for _ in removed + rows]
            step.append((name, removed + rows, times, [-1] * len(removed) + [1] * len(rows)))
        yield step


def _row(name: str, chance: random.Random) -> Row:
    if name == "edges":
        return chance.randrange(NODES_OF_GRAPH), chance.randrange(NODES_OF_GRAPH)
    score = chance.choice([None, chance.randrange(-3, 4), 2**40])
    team = f"team {chance.randrange(TEAMS)}" if chance.randrange(1_000) else None
    return chance.randrange(6_000), team, score, None, chance.choice([None, 0.5])


def _changes(workers: int, node: Node) -> list[object]:
    """What each step changes, with its times, in a fixed order."""
    pool = new_pool(workers)
    pool.install("out", node, None)
    told: list[object] = []
    for number, step in enumerate(_steps(7)):
        for name, rows, times, diffs in step:
            if rows:
                _feed(pool, name, rows, times, diffs)
        pool.advance(2 * number + 2)
        deltas = pool.drain("out")
        rows = [tuple(row.values()) for row in deltas.rows.to_pylist()]
        changes = zip(rows, deltas.times.tolist(), deltas.diffs.tolist(), strict=True)
        told.append(sorted(changes, key=repr))
        errors = (deltas.errors.column(0).to_pylist(), deltas.error_times, deltas.error_diffs)
        told.append(sorted(zip(*(list(part) for part in errors), strict=True)))
    return told


def _feed(pool: Pool, name: str, rows: list[Row], times: list[int], diffs: list[int]) -> None:
    arrays = [
        pa.array(column, field.type)
        for column, field in zip(zip(*rows, strict=True), SCHEMAS[name], strict=True)
    ]
    batch = pa.record_batch(arrays, schema=SCHEMAS[name])
    pool.feed(name, batch, np.array(diffs, np.int64), np.array(times, np.uint64))


@pytest.mark.parametrize("name", [n for n in NODES if n != "delta join, unconnected"])
def test_two_workers_tell_the_changes_that_one_tells(name: str) -> None:
    assert _changes(2, NODES[name]) == _changes(1, NODES[name])
