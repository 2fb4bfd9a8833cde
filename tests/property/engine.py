"""What the engine's property tests share: random updates, ways to batch them, and the law.

The law: at every time, what a dataflow has put out so far equals the batch evaluation of its node
over what its inputs hold by then.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from unittest.mock import patch

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa

from ivm.cluster.pool import ClusterPool
from ivm.dataflow.nodes import Get, Node
from ivm.pool import Pool
from ivm.runtime import hydration
from tests.oracle import evaluate

PEOPLE_FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("team", pa.string()),
    pa.field("score", pa.int64()),
    pa.field("pay", pa.decimal128(12, 2)),
    pa.field("weight", pa.float64()),
]
PEOPLE = pa.schema(PEOPLE_FIELDS)
EDGES = pa.schema(
    [
        pa.field("src", pa.int64(), nullable=False),
        pa.field("dst", pa.int64(), nullable=False),
    ]
)
SCHEMAS = {"people": PEOPLE, "edges": EDGES}
KEYS = {"people": ["id"], "edges": ["src", "dst"]}

Row = tuple[Any, ...]
AnyPool = Pool | ClusterPool
people = Get("people", PEOPLE)
edges = Get("edges", EDGES)


@dataclass(frozen=True)
class Change:
    """`diff` copies of `row` of input `table` at `time`."""

    table: str
    row: Row
    time: int
    diff: int


def _people_rows() -> st.SearchStrategy[Row]:
    teams = st.none() | st.sampled_from(
        ["a", "b", "", "seven b", "a long name of team one", "a long name of team two"]
    )
    scores = st.none() | st.integers(-3, 3) | st.sampled_from([2**40, -(2**40)])
    pays = st.none() | st.sampled_from([Decimal("0.10"), Decimal("-7.25"), Decimal("99999.99")])
    weights = st.none() | st.sampled_from([0.1, 0.2, -1e16, 1e16, 5e-324, 1.5])
    return st.tuples(st.integers(0, 5), teams, scores, pays, weights)


def _edge_rows() -> st.SearchStrategy[Row]:
    return st.tuples(st.integers(0, 6), st.integers(0, 6))


@st.composite
def histories(draw: st.DrawFn, times: int = 4, size: int = 12) -> list[Change]:
    """Insertions at random times, most of them deleted again at a later time or the same one."""
    changes = []
    for _ in range(draw(st.integers(0, size))):
        table = draw(st.sampled_from(["people", "edges"]))
        row = draw(_people_rows() if table == "people" else _edge_rows())
        time = draw(st.integers(0, times - 1))
        changes.append(Change(table, row, time, 1))
        if draw(st.booleans()):
            changes.append(Change(table, row, draw(st.integers(time, times - 1)), -1))
    return changes


def frontiers(times: int = 4) -> st.SearchStrategy[list[int]]:
    """Where to stop: any cut of the times into steps, the last one complete."""
    return st.sets(st.integers(1, times - 1)).map(lambda cuts: [*sorted(cuts), times])


def feed(pool: AnyPool, changes: Sequence[Change]) -> None:
    """Queue `changes`, one batch for each table."""
    for table, schema in SCHEMAS.items():
        mine = [c for c in changes if c.table == table]
        rows = [dict(zip(schema.names, c.row, strict=True)) for c in mine]
        pool.feed(
            table,
            pa.RecordBatch.from_pylist(rows, schema=schema),
            np.array([c.diff for c in mine], np.int64),
            np.array([c.time for c in mine], np.uint64),
        )


def new_pool(workers: int = 1, max_rounds: int = 10_000, *, insert_only: bool = False) -> Pool:
    """A pool with the inputs `people` and `edges`."""
    pool = Pool(workers, max_rounds)
    create_inputs(pool, insert_only=insert_only)
    return pool


def create_inputs(pool: AnyPool, *, insert_only: bool = False) -> None:
    """Declare the inputs `people` and `edges`."""
    for table, schema in SCHEMAS.items():
        pool.create_input(table, schema, KEYS[table], insert_only=insert_only)


def contents(changes: Sequence[Change], time: int) -> dict[str, Counter[Row]]:
    """What the inputs hold at `time`."""
    held: dict[str, Counter[Row]] = {table: Counter() for table in SCHEMAS}
    for change in changes:
        if change.time <= time:
            held[change.table][change.row] += change.diff
    return {table: Counter({r: n for r, n in c.items() if n}) for table, c in held.items()}


def hashable(value: Any) -> Any:
    """A value of a row; lists are tuples."""
    return tuple(hashable(v) for v in value) if isinstance(value, list) else value


@dataclass
class Output:
    """What a dataflow has put out: (row, time, diff), and the errors standing at each time."""

    changes: list[tuple[Row, int, int]]
    errors: list[tuple[int, int]]

    def at(self, time: int) -> Counter[Row]:
        """The collection accumulated up to `time`."""
        held: Counter[Row] = Counter()
        for row, at, diff in self.changes:
            if at <= time:
                held[row] += diff
        return Counter({row: n for row, n in held.items() if n})

    def errors_at(self, time: int) -> int:
        """Errors accumulated up to `time`."""
        return sum(diff for at, diff in self.errors if at <= time)

    def drain(self, pool: AnyPool, name: str) -> None:
        """Take what `name` has put out since the last time."""
        deltas = pool.drain(name)
        columns = [[hashable(v) for v in column.to_pylist()] for column in deltas.rows.columns]
        for i, (time, diff) in enumerate(
            zip(deltas.times.tolist(), deltas.diffs.tolist(), strict=True)
        ):
            self.changes.append((tuple(c[i] for c in columns), time, diff))
        self.errors += zip(deltas.error_times.tolist(), deltas.error_diffs.tolist(), strict=True)


def run(
    node: Node,
    changes: Sequence[Change],
    stops: Sequence[int],
    *,
    workers: int = 1,
    install_at: int = 0,
    sweeping: bool = False,
    insert_only: bool = False,
    indexed: bool = True,
    beside: bool = False,
    pool: AnyPool | None = None,
) -> Output:
    """Install `node` once the frontier is at `install_at` of `stops`, and run to the last one.

    `sweeping` releases unused strings after every step, however few there are. Without `indexed`
    the changes alone are kept. It is hydrated `beside` the pool, however little there is to do.
    It runs in `pool`, which has the inputs, or in a new one.
    """
    if pool is None:
        pool = new_pool(workers, insert_only=insert_only)
    output = Output([], [])
    installed = False
    before = 0
    for stop in [0, *stops]:
        feed(pool, [c for c in changes if before <= c.time < stop])
        if sweeping:
            assert isinstance(pool, Pool)
            pool._core.strings.limit = 0
        pool.advance(stop)
        before = stop
        if not installed and stop >= install_at:
            with patch.object(hydration, "LITTLE", -1 if beside else hydration.LITTLE):
                pool.install("out", node, [] if indexed else None)
            installed = True
        if installed:
            output.drain(pool, "out")
    return output


def assert_law(node: Node, changes: Sequence[Change], stops: Sequence[int], **how: Any) -> None:
    """The law, at every time from the installation on."""
    output = run(node, changes, stops, **how)
    first = max(how.get("install_at", 0) - 1, 0)
    installed = next((s for s in [0, *stops] if s >= how.get("install_at", 0)), stops[-1])
    for time in range(max(first, installed - 1, 0), stops[-1]):
        truth = evaluate(node, contents(changes, time))
        assert output.at(time) == truth.rows, f"at time {time}"
        assert (output.errors_at(time) > 0) == bool(truth.errors), f"errors at time {time}"
