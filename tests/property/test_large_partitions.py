"""Window functions over partitions of hundreds of rows, of which a step changes a few."""

from collections import Counter
from dataclasses import replace
from datetime import datetime
from random import Random
from statistics import median
from time import process_time
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import (
    UP_TO_PEERS,
    Calendar,
    Frame,
    Order,
    WindowCall,
    WindowFunction,
)
from ivm.dataflow.expressions import Call, Column, Literal
from ivm.dataflow.nodes import Get, Map, Window
from ivm.pool import Pool
from tests.oracle import evaluate

INT, TEXT, DOUBLE = pa.int64(), pa.string(), pa.float64()
FIELDS: list[pa.Field] = [
    pa.field("team", TEXT),
    pa.field("name", TEXT),
    pa.field("score", INT),
    pa.field("weight", DOUBLE, nullable=False),
]
PLAYERS = pa.schema(FIELDS)
Player = tuple[Any, ...]  # team, name, score, weight
players = Get("players", PLAYERS)
TEAM, NAME, SCORE, WEIGHT = range(4)
AT = 4
_STEP = Call("multiply", (Column(SCORE, INT, True), Literal(18_000_000_000, INT)), INT, True)
_START = Literal(datetime(2024, 1, 27, 5), pa.timestamp("us"))
SPARSE_AT = 4
_TENTH = Call("modulo", (Column(SCORE, INT, True), Literal(10, INT)), INT, True)
_IS_TENTH = Call("eq", (_TENTH, Literal(0, INT)), pa.bool_(), True)
SPARSE = Map(
    players,
    (
        *((f.name, Column(i, f.type, f.nullable)) for i, f in enumerate(PLAYERS)),
        (
            "tenth",
            Call("case", (_IS_TENTH, Column(SCORE, INT, True), Literal(None, INT)), INT, True),
        ),
    ),
)
"""Players with their score where it is a multiple of ten."""
DATED = Map(
    players,
    (
        *((f.name, Column(i, f.type, f.nullable)) for i, f in enumerate(PLAYERS)),
        ("at", Call("add_micros", (_START, _STEP), pa.timestamp("us"), True)),
    ),
)
"""Players with a moment, five hours apart, through the ends of some months."""


def _call(
    function: WindowFunction,
    column: int | None,
    kind: pa.DataType,
    frame: Frame = UP_TO_PEERS,
    count: int = 1,
) -> WindowCall:
    return WindowCall(function, column, function, kind, column is not None, frame, count)


NEIGHBOURS = (_call("lag", NAME, TEXT, count=2), _call("lead", SCORE, INT))
MOVING = (
    _call("sum", WEIGHT, DOUBLE, Frame("rows", -2, 1)),
    _call("max", NAME, TEXT, Frame("rows", 0, 3)),
    _call("last_value", NAME, TEXT),
)
RUNNING = (
    _call("row_number", None, INT),
    _call("rank", None, INT),
    _call("dense_rank", None, INT),
    _call("sum", WEIGHT, DOUBLE),
    _call("count", SCORE, INT, Frame("rows", None, 2)),
    _call("lag", WEIGHT, DOUBLE, count=3),
)
RANGES = (
    _call("count", None, INT, Frame("range", -20, 5)),
    _call("min", NAME, TEXT, Frame("range", 2, 3)),
    _call("lag", WEIGHT, DOUBLE),
)
HEADS = (
    _call("first_value", NAME, TEXT),
    _call("first_value", SCORE, INT, Frame("rows", None, -2)),
    _call("lead", SCORE, INT),
)
NODES = {
    "neighbours by number": Window(players, (TEAM,), (Order(SCORE),), NEIGHBOURS),
    "neighbours by string": Window(players, (TEAM,), (Order(NAME, True),), NEIGHBOURS),
    "moving frames": Window(players, (TEAM,), (Order(SCORE, True),), MOVING),
    "moving frames by string": Window(players, (), (Order(NAME, False, True),), MOVING),
    "running": Window(players, (TEAM,), (Order(SCORE),), RUNNING),
    "running by string": Window(players, (), (Order(NAME, True),), RUNNING),
    "ranges": Window(players, (TEAM,), (Order(SCORE),), RANGES),
    "ranges downwards": Window(players, (), (Order(SCORE, True, True),), RANGES),
    "ranges of floats": Window(
        players, (TEAM,), (Order(WEIGHT),), (_call("count", None, INT, Frame("range", -0.7, 1.1)),)
    ),
    "groups": Window(
        players,
        (TEAM,),
        (Order(NAME, True),),
        (
            _call("min", SCORE, INT, Frame("groups", -2, 1)),
            _call("sum", WEIGHT, DOUBLE, Frame("groups", -3, -1)),
        ),
    ),
    "numbers up to some groups away": Window(
        players,
        (TEAM,),
        (Order(SCORE),),
        (_call("rank", None, INT), _call("count", None, INT, Frame("groups", None, 2))),
    ),
    "frames without some rows": Window(
        players,
        (TEAM,),
        (Order(SCORE),),
        (
            _call("sum", WEIGHT, DOUBLE, Frame("rows", -3, 1, "ties")),
            _call("count", None, INT, Frame("range", None, 0, "group")),
            _call("max", NAME, TEXT, Frame("groups", -1, 2, "current row")),
            _call("first_value", NAME, TEXT, Frame("groups", -1, 2, "group")),
        ),
    ),
    "running sums without some rows": Window(
        players,
        (TEAM,),
        (Order(NAME, True),),
        (
            _call("sum", WEIGHT, DOUBLE, Frame("range", None, 0, "ties")),
            _call("count", SCORE, INT, Frame("rows", None, 2, "group")),
        ),
    ),
    "lists": Window(
        players,
        (TEAM,),
        (Order(SCORE),),
        (
            _call("list", NAME, pa.list_(TEXT), Frame("rows", -2, 1)),
            _call("list", SCORE, pa.list_(INT), Frame("range", -2, 3, "ties")),
        ),
    ),
    "values that are not NULL": Window(
        players,
        (TEAM,),
        (Order(WEIGHT),),
        (
            replace(_call("last_value", SCORE, INT, Frame("rows", -4, 4)), skips_nulls=True),
            replace(_call("nth_value", NAME, TEXT, Frame("groups", -2, 1)), count=2),
        ),
    ),
    "nearest values": Window(
        players,
        (TEAM,),
        (Order(NAME, True),),
        (
            replace(_call("last_value", SCORE, INT), skips_nulls=True),
            replace(_call("first_value", SCORE, INT, Frame("rows", 0, None)), skips_nulls=True),
            replace(_call("lag", SCORE, INT, count=2), skips_nulls=True),
        ),
    ),
    "nearest values of rows": Window(
        SPARSE,
        (TEAM,),
        (Order(SCORE),),
        (
            replace(_call("last_value", SPARSE_AT, INT, Frame("rows", None, 0)), skips_nulls=True),
            replace(_call("first_value", NAME, TEXT, Frame("groups", 0, None)), skips_nulls=True),
            replace(_call("lead", SPARSE_AT, INT), skips_nulls=True),
            _call("lag", NAME, TEXT),
        ),
    ),
    "months": Window(
        DATED,
        (TEAM,),
        (Order(AT),),
        (
            _call("count", None, INT, Frame("range", Calendar(-1, 0), Calendar(0, 86_400_000_000))),
            _call("min", NAME, TEXT, Frame("range", Calendar(1, 0), Calendar(2, -(10**9)))),
        ),
    ),
    "months downwards": Window(
        DATED,
        (),
        (Order(AT, True, True),),
        (_call("count", None, INT, Frame("range", Calendar(-1, 1), Calendar(0, 10**9), "ties")),),
    ),
    "heads": Window(players, (TEAM,), (Order(SCORE),), HEADS),
    "heads and numbers": Window(
        players, (TEAM,), (Order(NAME),), (*HEADS, _call("row_number", None, INT))
    ),
}


def _player(random: Random) -> Player:
    number = random.randrange(250)
    name = random.choice([None, f"{number}", f"player number {number:03}", f"player {number:03}"])
    score = random.choice([None, *[number] * 20])
    weight = random.choice([number / 8, number * 0.1, 1e16 + number, -1e16])
    return (random.choice(["a", *["b"] * 9]), name, score, weight)


def _changes(random: Random, steps: int) -> list[Counter[Player]]:
    """A load, then steps that put rows in and take some out, singly or side by side; one empties
    the largest partition almost, and one fills it again."""
    held = Counter(_player(random) for _ in range(260))
    changes = [held.copy()]
    for step in range(steps):
        present = sorted(held, key=lambda p: (p[SCORE] is None, p[SCORE]))
        first, length = random.randrange(len(present)), random.choice([0, 1, 1, 3])
        gone = present[first : first + length] + present[: random.choice([0, 0, 1])]
        come = [_player(random) for _ in range(random.choice([0, 1, 1, 3]))]
        if step == steps // 2:
            gone = present[:-60]
        if step == steps // 2 + 2:
            come = [_player(random) for _ in range(180)]
        diffs = Counter(come)
        diffs.subtract({player: held[player] for player in gone})
        held.update(diffs)
        held = +held
        changes.append(diffs)
    return changes


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _feed(pool: Pool, changes: Counter[Player], at: int) -> None:
    rows = [dict(zip(PLAYERS.names, p, strict=True)) for p, n in changes.items() if n]
    diffs = np.array([n for n in changes.values() if n], np.int64)
    pool.feed("players", pa.RecordBatch.from_pylist(rows, schema=PLAYERS), diffs, at)


@pytest.mark.parametrize("at_once", [1, 3], ids=["step by step", "three times at once"])
@pytest.mark.parametrize("name", NODES)
def test_output_equals_recomputation_at_every_time(name: str, at_once: int) -> None:
    changes = _changes(Random(name), 9)
    pool = Pool()
    pool.create_input("players", PLAYERS, ["score"])
    pool.install("out", NODES[name], [])
    output: Counter[tuple[object, ...]] = Counter()
    held: Counter[Player] = Counter()
    for start in range(0, len(changes), at_once):
        step = changes[start : start + at_once]
        for i, each in enumerate(step):
            _feed(pool, each, start + i)
        pool.advance(start + len(step))
        deltas = pool.drain("out")
        columns = ([_hashable(v) for v in c.to_pylist()] for c in deltas.rows.columns)
        rows = list(zip(*columns, strict=True))
        for i, each in enumerate(step):
            held.update(each)
            for row, at, diff in zip(rows, deltas.times, deltas.diffs, strict=True):
                if at == start + i:
                    output[row] += int(diff)
            truth = evaluate(NODES[name], {"players": held})
            assert Counter({r: n for r, n in output.items() if n}) == truth.rows, start + i


APPENDED = (
    "running",
    "neighbours by number",
    "moving frames",
    "ranges",
    "heads",
    "nearest values of rows",
)


@pytest.mark.parametrize("name", APPENDED)
def test_a_row_at_the_end_costs_about_the_same_in_a_partition_a_thousand_times_larger(
    name: str,
) -> None:
    small, large = (_latency(NODES[name], size) for size in (150, 150_000))
    assert large < 10 * small


def _latency(node: Window, size: int) -> float:
    """The median processor time of a step that adds a row behind all `size` rows in their order."""
    pool = Pool()
    pool.create_input("players", PLAYERS, ["score"])
    pool.install("out", node, [])
    sign = -1 if node.order[0].descending else 1
    rows = pa.RecordBatch.from_arrays(
        [
            pa.array(["a"] * (size + 100)),
            pa.array([f"player number {i:09}" for i in range(size + 100)]),
            pa.array(range(0, sign * (size + 100), sign), INT),
            pa.array([0.5] * (size + 100)),
        ],
        schema=PLAYERS,
    )
    pool.feed("players", rows.slice(0, size), np.ones(size, np.int64), 0)
    pool.advance(1)
    seconds = []
    for i in range(100):
        pool.feed("players", rows.slice(size + i, 1), np.array([1], np.int64), i + 1)
        start = process_time()
        pool.advance(i + 2)
        seconds.append(process_time() - start)
    return median(seconds)
