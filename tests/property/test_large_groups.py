"""Groups of hundreds of values, of which the first are retracted again and again."""

from collections import Counter, defaultdict
from random import Random
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.nodes import Get, Node, Reduce, TopK
from ivm.pool import Pool
from tests.oracle import evaluate

INT = pa.int64()
FIELDS: list[pa.Field] = [
    pa.field("team", pa.string()),
    pa.field("name", pa.string()),
    pa.field("score", INT, nullable=False),
]
PLAYERS = pa.schema(FIELDS)
Player = tuple[Any, ...]  # team, name, score
players = Get("players", PLAYERS)

NODES: dict[str, Node] = {
    "min": Reduce(players, (0,), (Aggregate("min", 2, "m", INT, True),)),
    "min of strings": Reduce(players, (0,), (Aggregate("min", 1, "m", pa.string(), True),)),
    "max of strings": Reduce(players, (), (Aggregate("max", 1, "m", pa.string(), True),)),
    "percentile": Reduce(
        players,
        (0,),
        (Aggregate("percentile_disc", 2, "p", INT, True, order=(Order(2, True),), parameter=0.4),),
    ),
    "percentile of strings": Reduce(
        players, (0,), (Aggregate("percentile_disc", 1, "p", pa.string(), True, parameter=0.9),)
    ),
    "first": Reduce(
        players, (0,), (Aggregate("first", 1, "f", pa.string(), True, order=(Order(2),)),)
    ),
    "top-k": TopK(players, (0,), (Order(2),), 5, 2),
    "top-k by string": TopK(players, (), (Order(1, nulls_first=True), Order(2)), 7),
    "top-k by string, descending": TopK(players, (0,), (Order(1, descending=True),), 3),
}


def _player(random: Random) -> Player:
    number = random.randrange(3000)
    names = (None, "", f"{number}", f"player number {number:05}", f"player {number:05} of them")
    team = random.choice(["a team with a long name", "b"])
    return (team, names[random.choices(range(5), (1, 1, 20, 100, 100))[0]], number)


def _changes(random: Random, steps: int) -> list[dict[Player, int]]:
    """A load, then steps that take some of the first players out and put a few in; one empties
    the collection almost."""
    held = Counter(_player(random) for _ in range(1500))
    steps_: list[dict[Player, int]] = [dict(held)]
    for step in range(steps):
        present = sorted(held, key=lambda p: p[1 + step % 2] or "" if step % 2 == 0 else p[2])
        gone = present[: random.choice([1, 1, 5, 40])] + present[-2:]
        if step == steps // 2:
            gone = present[:-200]
        diffs: dict[Player, int] = defaultdict(int)
        for player in gone:
            diffs[player] -= held[player]
        for _ in range(random.choice([0, 1, 3, 400 if step > steps // 2 else 3])):
            diffs[_player(random)] += 1
        for player, diff in diffs.items():
            held[player] += diff
        held = +held
        steps_.append(diffs)
    return steps_


def _feed(pool: Pool, changes: dict[Player, int], at: int) -> None:
    rows = [dict(zip(PLAYERS.names, p, strict=True)) for p, n in changes.items() if n]
    diffs = np.array([n for n in changes.values() if n], np.int64)
    pool.feed("players", pa.RecordBatch.from_pylist(rows, schema=PLAYERS), diffs, at)


@pytest.mark.parametrize(
    "at_once", [1, 4, 41], ids=["step by step", "four times at once", "all times at once"]
)
@pytest.mark.parametrize("name", NODES)
def test_output_equals_recomputation_at_every_time(name: str, at_once: int) -> None:
    changes = _changes(Random(name), 40)
    pool = Pool()
    pool.create_input("players", PLAYERS, ["score"])
    pool.install("out", NODES[name], [])
    output: Counter[tuple[object, ...]] = Counter()
    held: Counter[Player] = Counter()
    for start in range(0, len(changes), at_once):
        step = changes[start : start + at_once]
        for i, each in enumerate(step):
            _feed(pool, each, start + i)
        pool._core.strings.limit = 0
        pool.advance(start + len(step))
        deltas = pool.drain("out")
        rows = list(zip(*(c.to_pylist() for c in deltas.rows.columns), strict=True))
        for i, each in enumerate(step):
            held.update(each)
            for row, at, diff in zip(rows, deltas.times, deltas.diffs, strict=True):
                if at == start + i:
                    output[row] += int(diff)
            truth = evaluate(NODES[name], {"players": held})
            assert Counter({r: n for r, n in output.items() if n}) == truth.rows, start + i


@pytest.mark.parametrize("name", ["min", "min of strings"])
def test_a_retraction_of_the_minimum_costs_about_the_same_in_a_group_a_thousand_times_larger(
    name: str,
) -> None:
    small, large = (_latency(NODES[name], size) for size in (150, 150_000))
    assert large < 10 * small


def test_four_times_as_many_times_of_a_small_group_in_one_step_cost_about_four_times_as_much() -> (
    None
):
    """The values that a step puts in and takes out are no part of what is read at each time."""
    few, many = (min(_seconds_of_times(n) for _ in range(3)) for n in (1_500, 6_000))
    assert many < 8 * few


def _seconds_of_times(times: int) -> float:
    """The processor time of a step in which one of a hundred values is replaced at each time."""
    pool = Pool()
    pool.create_input("players", PLAYERS, ["score"])
    pool.install("out", NODES["top-k"], [])
    scores = [(i % 100) * times + i // 100 for i in range(100 + times)]
    put_in, taken_out = scores, scores[:times]
    rows = pa.RecordBatch.from_arrays(
        [
            pa.array(["a"] * (100 + 2 * times)),
            pa.array([None] * (100 + 2 * times), pa.string()),
            pa.array(put_in + taken_out, INT),
        ],
        schema=PLAYERS,
    )
    diffs = np.repeat(np.array([1, -1], np.int64), [100 + times, times])
    at = [*([0] * 100), *range(1, times + 1), *range(1, times + 1)]
    pool.feed("players", rows, diffs, np.array(at, np.uint64))
    start = process_time()
    pool.advance(times + 1)
    return process_time() - start


def _latency(node: Node, size: int) -> float:
    """The median processor time of a step that retracts the least of `size` values."""
    pool = Pool()
    pool.create_input("players", PLAYERS, ["score"])
    pool.install("out", node, [])
    rows = pa.RecordBatch.from_arrays(
        [
            pa.array(["a"] * size),
            pa.array([f"player number {i:09}" for i in range(size)]),
            pa.array(range(size), INT),
        ],
        schema=PLAYERS,
    )
    pool.feed("players", rows, np.ones(size, np.int64), 0)
    pool.advance(1)
    seconds = []
    for i in range(100):
        pool.feed("players", rows.slice(i, 1), np.array([-1], np.int64), i + 1)
        start = process_time()
        pool.advance(i + 2)
        seconds.append(process_time() - start)
    return median(seconds)
