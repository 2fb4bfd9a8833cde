"""Lets every allocation of one call fail in turn, and prints what the caller is told.

    LD_PRELOAD=shortage.so python -m tests.faults.telling CALL

The call is prepared and made with its n-th allocation failing; n counts up until a call gets
through without reaching it. Prints a line for each error; what is answered must be right.
"""

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ivm.dataflow.nodes import Get
from ivm.errors import reason
from ivm.pool import Pool
from ivm.rows.codec import round_trip
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.trace.shims import (
    absorb,
    as_of,
    dealt,
    layers,
    seal_bare,
    seal_together,
    seal_unsorted,
    share,
)
from ivm.trace.spine import Trace
from tests.faults.arming import arm, disarm

PAIRS = pa.schema([pa.field(name, pa.int64(), nullable=False) for name in ("a", "b")])
NUMBERS = np.arange(20_000)  # of rows, which threads share
GROUPS = NUMBERS % 11
FED = np.arange(140_000)  # of rows that threads queue

Act = Callable[[], Any]
Answer = Callable[[Any], object]


def dealing(count: int) -> tuple[Act, Answer]:
    """Two threads deal rows out."""
    columns = np.broadcast_arrays(NUMBERS[:count], GROUPS[:count], 0, 1)
    part = np.stack(columns, axis=1).astype(np.uint64), False
    layout, interner = Layout(PAIRS), Interner()
    return lambda: dealt([part], 2, (1,), layout, interner, 2), lambda found: [*map(bytes, found)]


def feeding() -> tuple[Act, Answer]:
    """Two threads of a pool queue rows."""
    pool = Pool(2)
    pool.create_input("pairs", PAIRS, ["a"])
    rows = pa.record_batch([pa.array(FED % 11), pa.array(FED)], schema=PAIRS)
    diffs = np.ones(rows.num_rows, np.int64)

    def answer(_: None) -> object:
        pool.advance(1)
        return pool.scan("pairs").rows

    return lambda: pool.feed("pairs", rows, diffs, 0), answer


def loading(diff: int) -> tuple[Act, Answer]:
    """Two threads of a pool queue rows beside what waits without times and diffs."""
    pool = Pool(2)
    pool.create_input("pairs", PAIRS, ["a"])
    rows = pa.record_batch([pa.array(np.tile(c, 2)) for c in (FED % 11, FED)], schema=PAIRS)
    pool.feed("pairs", rows, np.ones(rows.num_rows, np.int64), 0)

    def answer(_: None) -> object:
        pool.advance(1)
        return pool.scan("pairs").rows

    few = rows.slice(0, len(FED))
    return lambda: pool.feed("pairs", few, np.full(few.num_rows, diff), 0), answer


def advancing() -> tuple[Act, Answer]:
    """Two threads of a pool exchange rows in a step."""
    pool = Pool(2)
    pool.create_input("pairs", PAIRS, ["b"])
    pool.install("grouped", Get("pairs", PAIRS), ["a"])
    rows = pa.record_batch([pa.array(GROUPS), pa.array(NUMBERS)], schema=PAIRS)
    pool.feed("pairs", rows, np.ones(len(NUMBERS), np.int64), 0)
    return lambda: pool.advance(1), lambda _: pool.scan("grouped").rows


def building(times: int) -> tuple[Act, Answer]:
    """More rows than the cache holds, of which one counts twice, become a batch."""
    trace = Trace(1, 1, 1, ())
    rows = _rows(2 * len(NUMBERS), times)
    return lambda: seal_unsorted(trace, rows, 0), lambda _: [*map(bytes, layers(trace))]


def building_together(count: int, times: int) -> tuple[Act, Answer]:
    """The same by two threads."""
    trace = Trace(1, 1, 1, ())
    share(trace, 2)
    rows = _rows(count, times)
    return lambda: seal_together(trace, [rows], 0), lambda _: [*map(bytes, layers(trace))]


def building_bare(count: int, parts: int) -> tuple[Act, Answer]:
    """Rows without times and diffs, of which one is there twice, become a batch."""
    trace = Trace(1, 1, 1, ())
    share(trace, parts)
    rows = _rows(count, 1)[:, :2].copy()
    rows[0] = rows[1]
    given = np.array_split(rows, parts)
    return lambda: seal_bare(trace, given, 0, 0), lambda _: [*map(bytes, layers(trace))]


def building_ascending() -> tuple[Act, Answer]:
    """Rows that ascend, of which those of one key are in two parts, become a batch."""
    trace = Trace(1, 1, 1, ())
    share(trace, 2)
    rows = _rows(2 * len(NUMBERS), 1)
    rows[:, 0], rows[:, 1] = np.arange(len(rows)) // 3, np.arange(len(rows))
    given = np.array_split(rows, [len(NUMBERS)])
    return lambda: seal_together(trace, given, 0), lambda _: [*map(bytes, layers(trace))]


def merging(times: int) -> tuple[Act, Answer]:
    """The batches of a trace are to be added up by a helper."""
    trace = Trace(1, 1, 1, ())
    share(trace, 2)
    seal_together(trace, [_rows(len(NUMBERS), times)], 0)
    absorb(trace, 0)
    seal_together(trace, [_rows(2 * len(NUMBERS), times)], 0)

    def answer(_: None) -> object:
        absorb(trace, times)
        return as_of(trace, (times,))

    return lambda: absorb(trace, times), answer


def _rows(count: int, times: int) -> NDArray[np.uint64]:
    numbers = np.random.default_rng(0).permutation(count)
    columns = np.broadcast_arrays(numbers // 3, numbers, numbers % times, 1 + (numbers == 7))
    return np.stack(columns, axis=1).astype(np.uint64)


def decoding() -> tuple[Act, Answer]:
    """A column of numbers and one of texts, both with NULL, become rows and columns again."""
    rows = pa.record_batch({"number": [1, None, 3], "text": ["a", None, "more than seven bytes"]})
    interner = Interner()
    return lambda: round_trip(rows, rows.schema, interner), lambda decoded: decoded


CALLS: dict[str, Callable[[], tuple[Act, Answer]]] = {
    "deal": partial(dealing, len(NUMBERS)),
    "deal few": partial(dealing, len(NUMBERS) // 2),
    "feed": feeding,
    "feed what is bare": partial(loading, 1),
    "feed beside what is bare": partial(loading, -1),
    "advance": advancing,
    "build": partial(building, 1),
    "build of several times": partial(building, 3),
    "build together": partial(building_together, 2 * len(NUMBERS), 1),
    "build few together": partial(building_together, len(NUMBERS) // 2, 1),
    "build together of several times": partial(building_together, 2 * len(NUMBERS), 3),
    "build bare": partial(building_bare, 2 * len(NUMBERS), 1),
    "build few bare": partial(building_bare, len(NUMBERS) // 2, 1),
    "build bare together": partial(building_bare, 2 * len(NUMBERS), 2),
    "build ascending together": building_ascending,
    "merge": partial(merging, 1),
    "merge of several times": partial(merging, 3),
    "decode": decoding,
}


def outcome(act: Act, n: int) -> tuple[bool, str, Any]:
    """Whether the n-th allocation was reached, what was told of it, and what was answered."""
    told, answered = "", None
    arm(n)
    try:
        answered = act()
    except MemoryError as shortage:
        told = reason(shortage)
    finally:
        reached = disarm()
    return reached, told, answered


def main() -> None:
    """Sweep."""
    prepare = CALLS[sys.argv[1]]
    act, answer = prepare()
    right = answer(act())
    n, reached = 0, True
    while reached:
        n += 1
        act, answer = prepare()
        reached, told, answered = outcome(act, n)
        if told:
            print(told, flush=True)
        else:
            assert answer(answered) == right, f"wrong after allocation {n} had failed"


if __name__ == "__main__":
    main()
