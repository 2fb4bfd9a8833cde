"""A cluster of two processes answers as one pool does, and says what is at fault."""

import os
import signal
from collections.abc import Iterator

import numpy as np
import pyarrow as pa
import pytest

from ivm.cluster.pool import ClusterPool
from ivm.cluster.processes import Processes
from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    FlatMap,
    Get,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    Union,
    columns,
    project,
)
from ivm.errors import (
    CountOverflow,
    DuplicateName,
    InsertOnly,
    NoFixedPoint,
    NotIndexed,
    PoolFailed,
    SchemaMismatch,
    TimeInPast,
    UnknownCollection,
    Unsupported,
)

INT = pa.int64()
EDGES = pa.schema([pa.field(name, INT, nullable=False) for name in ("src", "dst")])
NAMES_FIELDS: list[pa.Field] = [
    pa.field("node", INT, nullable=False),
    pa.field("name", pa.string(), nullable=False),
]
NAMES = pa.schema(NAMES_FIELDS)
NODE = pa.schema([pa.field("node", INT, nullable=False)])
edges, names = Get("edges", EDGES), Get("names", NAMES)
count = Aggregate("count", None, "n", INT, False)


@pytest.fixture(scope="module")
def processes(encrypted: bool) -> Iterator[ClusterPool]:
    """A cluster of two processes, which take some seconds to start."""
    with Processes(members=2, encrypted=encrypted, max_rounds=50) as pool:
        yield pool


@pytest.fixture
def pool(processes: ClusterPool) -> Iterator[ClusterPool]:
    """That cluster, with the inputs `edges` and `names` and nothing in them."""
    processes.create_input("edges", EDGES, ["src", "dst"])
    processes.create_input("names", NAMES, ["node"])
    yield processes
    for name in ("edges", "names"):
        processes.drop_input(name)


def feed(pool: ClusterPool, name: str, rows: list[tuple[object, ...]], diff: int = 1) -> None:
    """Feed rows at the next time, and complete it."""
    schema = {"edges": EDGES, "names": NAMES}[name]
    batch = pa.RecordBatch.from_pylist(
        [dict(zip(schema.names, row, strict=True)) for row in rows], schema=schema
    )
    pool.feed(name, batch, np.full(len(rows), diff), pool.frontier)
    pool.advance(pool.frontier + 1)


def reached_from_zero() -> Node:
    """The nodes to which edges lead from node 0."""
    start = Map(edges, (("node", Literal(0, INT)),))
    step = Join(Arrange(Recursive("x", NODE), (0,)), Arrange(edges, (0,)), (("node", 1),))
    return Iterate((("x", Distinct(Union((start, step)))),), "x")


def reached(pool: ClusterPool) -> set[object]:
    """The rows of the collection `reached`."""
    return set(pool.scan("reached").rows["node"].to_pylist())


def counting_up() -> Node:
    """A recursion that adds 1 to each node without end."""
    x = Recursive("x", NODE)
    start = Map(edges, (("node", columns(edges)[0]),))
    more = Call("add", (columns(x)[0], Literal(1, INT)), INT, False)
    return Iterate((("x", Distinct(Union((start, Map(x, (("node", more),)))))),), "x")


def test_a_recursion_over_both_processes_follows_its_edges(pool: ClusterPool) -> None:
    feed(pool, "edges", [(i, i + 1) for i in range(40)])
    pool.install("reached", reached_from_zero(), key=["node"])
    assert reached(pool) == set(range(41))
    feed(pool, "edges", [(20, 21)], -1)
    assert reached(pool) == set(range(21))
    pool.drop("reached")


def test_texts_reach_the_owners_of_other_keys(pool: ClusterPool) -> None:
    texts = ["", "seven b", "a text of more than seven bytes", "another long text", "\u00fc" * 9]
    feed(pool, "names", [(i, texts[i % 5]) for i in range(100)])
    by_name = Reduce(names, (1,), (count,))
    pool.install("by_name", by_name, key=["name"])
    counted = {row["name"]: row["n"] for row in pool.scan("by_name").rows.to_pylist()}
    assert counted == dict.fromkeys(texts, 20)
    assert [pool.peek("by_name", {"name": text}).rows["n"].to_pylist() for text in texts] == [
        [20]
    ] * 5
    pool.drop("by_name")


def test_deltas_come_by_time_with_deletions_first(pool: ClusterPool) -> None:
    pool.install("degrees", Reduce(edges, (0,), (count,)), key=None)
    feed(pool, "edges", [(node, 0) for node in range(20)])
    first = pool.frontier - 1
    feed(pool, "edges", [(node, 1) for node in range(20)])
    deltas = pool.drain("degrees")
    assert deltas.times.tolist() == [first] * 20 + [first + 1] * 40
    assert deltas.diffs.tolist() == [1] * 20 + [-1] * 20 + [1] * 20
    pool.drop("degrees")


def test_a_recursion_without_end_is_dropped_in_all_processes(pool: ClusterPool) -> None:
    pool.install("endless", counting_up(), key=["node"])
    with pytest.raises(NoFixedPoint, match="no fixed point within 50 rounds"):
        feed(pool, "edges", [(1, 2)])
    with pytest.raises(UnknownCollection):
        pool.drop("endless")
    feed(pool, "edges", [(2, 3)])
    assert pool.scan("edges").rows.num_rows == 2


def test_an_installation_that_fails_leaves_nothing(pool: ClusterPool) -> None:
    feed(pool, "edges", [(1, 2)])
    with pytest.raises(NoFixedPoint):
        pool.install("endless", counting_up(), key=["node"])
    pool.install("endless", project(edges, (0,)), key=["src"])
    assert pool.peek("endless", {"src": 1}).counts.tolist() == [1]
    pool.drop("endless")


def test_a_count_that_overflows_in_one_process_drops_the_dataflow_in_all(
    pool: ClusterPool,
) -> None:
    pool.install("sources", project(edges, (0,)), key=["src"])
    pool.install("others", project(edges, (1,)), key=["dst"])
    many = pa.record_batch([[1, 1, 1], [4, 5, 6]], schema=EDGES)
    pool.feed("edges", many, np.full(3, 2**62), pool.frontier)
    with pytest.raises(CountOverflow, match="sources"):
        pool.advance(pool.frontier + 1)
    with pytest.raises(UnknownCollection):
        pool.drop("sources")
    assert pool.scan("others").counts.tolist() == [2**62] * 3
    pool.drop("others")


def test_misuse_is_refused_and_changes_nothing(pool: ClusterPool) -> None:
    one = pa.record_batch([[1], [2]], schema=EDGES)
    with pytest.raises(DuplicateName):
        pool.create_input("edges", EDGES, ["src"])
    with pytest.raises(UnknownCollection):
        pool.feed("nothing", one, np.ones(1, np.int64), pool.frontier)
    with pytest.raises(SchemaMismatch):
        pool.feed("edges", one.rename_columns(["a", "b"]), np.ones(1, np.int64), pool.frontier)
    pool.advance(pool.frontier + 1)
    with pytest.raises(TimeInPast):
        pool.feed("edges", one, np.ones(1, np.int64), 0)
    with pytest.raises(NotIndexed):
        pool.peek("edges", {"dst": 2})
    assert pool.scan("edges").rows.num_rows == 0


def test_a_function_that_no_other_process_knows_is_refused(pool: ClusterPool) -> None:
    local = FlatMap(edges, lambda batch: (batch, range(len(batch))), EDGES)
    with pytest.raises(Unsupported, match="at the top of a module"):
        pool.install("local", local, key=["src"])
    assert pool.scan("edges").rows.num_rows == 0


def test_an_input_that_only_grows_refuses_deletions_before_any_row_is_fed(
    processes: ClusterPool,
) -> None:
    processes.create_input("grows", EDGES, ["src"], insert_only=True)
    rows = pa.record_batch([[1, 2, 3, 4], [0] * 4], schema=EDGES)
    with pytest.raises(InsertOnly):
        processes.feed("grows", rows, np.array([1, 1, 1, -1]), processes.frontier)
    processes.advance(processes.frontier + 1)
    assert processes.scan("grows").rows.num_rows == 0
    processes.drop_input("grows")


def test_a_process_that_is_killed_fails_the_cluster_and_ends_the_others(
    encrypted: bool,
) -> None:
    with Processes(members=2, encrypted=encrypted) as pool:
        pool.create_input("edges", EDGES, ["src", "dst"])
        pool.install("degrees", Reduce(edges, (1,), (count,)), key=["dst"])
        os.kill(pool.processes[1], signal.SIGKILL)
        with pytest.raises(PoolFailed, match="member"):
            feed(pool, "edges", [(node, 7) for node in range(10)])
        with pytest.raises(PoolFailed):
            pool.scan("degrees")
