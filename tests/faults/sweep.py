"""Lets every allocation of one operation fail in turn, and sees what is left of the pool.

    LD_PRELOAD=shortage.so python -m tests.faults.sweep OPERATION NODE…

For each node of the property tests: a pool is made, the operation runs with its n-th allocation
failing, and the pool must then be as the operation's contract says; n counts up until an operation
gets through without reaching it. Prints a line with the number of failures for each node.
"""

import random
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.expressions import Call
from ivm.dataflow.nodes import Map, Node, columns
from ivm.errors import OutOfMemory, PoolFailed, UnknownCollection
from ivm.pool import Pool
from tests.faults.arming import arm, disarm
from tests.oracle import evaluate
from tests.property.engine import PEOPLE, Change, Output, Row, contents, feed, new_pool, people
from tests.property.nodes import NODES

TEAM = columns(people)[1]
UPPER = Call("upper", (TEAM,), pa.string(), True)
TEXTS = Map(people, (("text", Call("concat", (UPPER, TEAM, TEAM), pa.string(), True)),))
OURS: dict[str, Node] = {**NODES, "texts": TEXTS}

Check = Callable[[bool], None]
Trial = tuple[Callable[[], object], Check]


def changes(seed: int) -> list[Change]:
    """Rows that come at times 0 and 1, some of which go at 1."""
    chance = random.Random(seed)
    teams = [None, "a", "a long name of team one", "a long name of team two"]
    made = []
    for i in range(40):
        row: Row = (i % 8, chance.choice(teams), chance.randrange(-3, 4), None, chance.random())
        made.append(Change("people", row, i % 2, 1))
        edge = (chance.randrange(8), chance.randrange(8))
        made.append(Change("edges", edge, i % 2, 1))
        if i % 4 == 0:
            made += [Change("people", row, 1, -1), Change("edges", edge, 1, -1)]
    return made


ALL = changes(0)
FIRST = [c for c in ALL if c.time == 0]
SECOND = [c for c in ALL if c.time == 1]


def truth(node: Node, time: int) -> Counter[Row]:
    """What the node's collection is at a time."""
    return evaluate(node, contents(ALL, time)).rows


def scanned(pool: Pool) -> Counter[Row]:
    """What readers find."""
    found = pool.scan("out")
    held: Counter[Row] = Counter()
    columns = [[_hashable(v) for v in c.to_pylist()] for c in found.rows.columns]
    for row, count in zip(zip(*columns, strict=True), found.counts.tolist(), strict=True):
        held[row] += count
    return held


def _hashable(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def started(node: Node, *, up_to: int, workers: int = 1) -> Pool:
    """A pool with the node installed, complete below `up_to`."""
    pool = new_pool(workers)
    pool.install("out", node, [])
    feed(pool, FIRST)
    pool.advance(1)
    if up_to == 2:
        feed(pool, SECOND)
        pool.advance(2)
    return pool


def feeding(node: Node) -> Trial:
    """Either everything was queued or nothing."""
    return _feeding(node, workers=1, rows=len(SECOND))


def feeding_few(node: Node) -> Trial:
    """The same of a few rows, which are moved to the queues of two shards."""
    return _feeding(node, workers=2, rows=6)


def _feeding(node: Node, *, workers: int, rows: int) -> Trial:
    pool = started(node, up_to=1, workers=workers)
    mine = [c for c in SECOND if c.table == "people"][:rows]
    fed = [dict(zip(PEOPLE.names, c.row, strict=True)) for c in mine]
    batch = pa.RecordBatch.from_pylist(fed, schema=PEOPLE)
    diffs = np.array([c.diff for c in mine], np.int64)

    def act() -> None:
        pool.feed("people", batch, diffs, 1)

    def check(failed: bool) -> None:
        if failed:
            act()
        feed(pool, [c for c in SECOND if c not in mine])
        pool.advance(2)
        assert scanned(pool) == truth(node, 1)

    return act, check


def advancing(node: Node) -> Trial:
    """Readers see the time before; everybody else is told."""
    pool = started(node, up_to=1)
    feed(pool, SECOND)

    def check(failed: bool) -> None:
        assert scanned(pool) == truth(node, 0 if failed else 1)
        if failed:
            with pytest.raises(PoolFailed):
                pool.advance(3)
            with pytest.raises(PoolFailed):
                feed(pool, [])

    return lambda: pool.advance(2), check


def creating(_: Node) -> Trial:
    """Nothing has changed; another attempt succeeds."""
    pool = new_pool()
    before = pool.arrangements()

    def act() -> None:
        pool.create_input("more", PEOPLE, ["id"])

    def check(failed: bool) -> None:
        if failed:
            assert pool.arrangements() == before
            act()
        assert pool.scan("more").rows.num_rows == 0

    return act, check


def installing(node: Node) -> Trial:
    """Nothing has changed; another installation succeeds."""
    pool = new_pool()
    feed(pool, ALL)
    pool.advance(2)
    before = pool.arrangements()

    def check(failed: bool) -> None:
        if failed:
            with pytest.raises(UnknownCollection):
                pool.scan("out")
            assert pool.arrangements() == before
            pool.install("out", node, [])
        assert scanned(pool) == truth(node, 1)

    return lambda: pool.install("out", node, []), check


def draining(node: Node) -> Trial:
    """No delta is lost."""
    pool = started(node, up_to=2)
    output = Output([], [])

    def check(failed: bool) -> None:
        if failed:
            output.drain(pool, "out")
        assert output.at(1) == truth(node, 1)

    return lambda: output.drain(pool, "out"), check


def scanning(node: Node) -> Trial:
    """Another look finds everything."""
    pool = started(node, up_to=2)

    def check(_: bool) -> None:
        assert scanned(pool) == truth(node, 1)

    return lambda: pool.scan("out"), check


OPERATIONS = {
    "feed": feeding,
    "feed few": feeding_few,
    "advance": advancing,
    "create": creating,
    "install": installing,
    "drain": draining,
    "scan": scanning,
}


def fails(act: Callable[[], object], n: int) -> tuple[bool, bool]:
    """Whether the n-th allocation was reached, and whether the operation failed of it."""
    failed = False
    arm(n)
    try:
        act()
    except OutOfMemory:
        failed = True
    finally:
        reached = disarm()
    return reached, failed


def main() -> None:
    """Sweep; whatever is raised where nobody can catch it ends the process too."""
    unraisable: list[object] = []
    sys.unraisablehook = lambda raised: unraisable.append(raised.exc_value)
    for name in sys.argv[2:]:
        failures, n, reached = 0, 0, True
        while reached:
            n += 1
            act, check = OPERATIONS[sys.argv[1]](OURS[name])
            try:
                reached, failed = fails(act, n)
                check(failed)
            except BaseException as error:
                error.add_note(f"{name}: after allocation {n} had failed")
                raise
            assert not unraisable, (name, n, unraisable)
            failures += failed
        print(f"{failures} of {n - 1} {name}", flush=True)


if __name__ == "__main__":
    main()
