"""As-of reads under a hold equal the batch evaluation at that time, however steps are cut."""

from collections import Counter
from collections.abc import Sequence

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    Union,
    columns,
)
from ivm.pool import Pool
from ivm.results import Snapshot
from tests.oracle import evaluate
from tests.property.engine import (
    EDGES,
    SCHEMAS,
    Change,
    Output,
    Row,
    contents,
    edges,
    feed,
    frontiers,
    hashable,
    histories,
    new_pool,
    people,
)
from tests.property.nodes import NODES as EVERY_NODE

TIMES = 6
INT = EDGES.field(0).type
_, _, score, _, _ = columns(people)
known = Arrange(Recursive("paths", EDGES), (1,))
steps = Join(known, Arrange(edges, (0,)), (("src", 1), ("dst", 2)))
NODES: dict[str, Node] = {
    "an input": edges,
    "counts": Reduce(people, (1,), (Aggregate("count", None, "n", INT, False),)),
    "rows with errors": Map(people, (("x", Call("divide", (Literal(1, INT), score), INT, True)),)),
    "paths": Iterate((("paths", Distinct(Union((edges, steps)))),), "paths"),
}

ALL = {**NODES, **EVERY_NODE}


def rows_of(found: Snapshot) -> Counter[Row]:
    """A snapshot's rows with their counts."""
    columns_ = [[hashable(v) for v in column.to_pylist()] for column in found.rows.columns]
    rows: Counter[Row] = Counter()
    for row, count in zip(zip(*columns_, strict=True), found.counts.tolist(), strict=True):
        rows[row] += count
    return rows


def assert_as_of(pool: Pool, node: Node, changes: Sequence[Change], time: int) -> None:
    truth = evaluate(node, contents(changes, time))
    found = pool.scan("out", as_of=time)
    assert found.time == time
    assert rows_of(found) == truth.rows, f"as of {time}"
    assert (found.errors > 0) == bool(truth.errors), f"errors as of {time}"


@pytest.mark.parametrize("node", NODES.values(), ids=NODES)
@settings(max_examples=15, deadline=None)
@given(data=st.data())
def test_every_time_from_a_hold_on_reads_as_it_was(node: Node, data: st.DataObject) -> None:
    changes = data.draw(histories(TIMES, 16))
    stops = data.draw(frontiers(TIMES))
    first = data.draw(st.integers(0, len(stops) - 1), label="stop before which the hold is taken")
    second = data.draw(st.integers(first, len(stops) - 1), label="and a second one")
    workers = data.draw(st.integers(1, 2))
    pool = new_pool(workers)
    pool.install("out", node, node.schema.names[:1])
    times: list[int] = []
    before = 0
    for i, stop in enumerate(stops):
        times += [pool.hold("out").time for at in (first, second) if at == i]
        feed(pool, [c for c in changes if before <= c.time < stop])
        pool.advance(stop)
        before = stop
        for time in range(min(times, default=stop - 1), stop):
            assert_as_of(pool, node, changes, time)


@pytest.mark.parametrize("node", [*ALL.values()], ids=[*ALL])
@settings(max_examples=4, deadline=None, derandomize=True)
@given(changes=histories(TIMES, 16), stops=frontiers(TIMES), late=st.integers(1, TIMES - 1))
def test_a_dataflow_over_what_is_held_is_hydrated_right(
    node: Node, changes: list[Change], stops: list[int], late: int
) -> None:
    pool = new_pool()
    holds = [pool.hold(name) for name in SCHEMAS]
    output = Output([], [])
    before, first = 0, None
    for stop in stops:
        feed(pool, [c for c in changes if before <= c.time < stop])
        pool.advance(stop)
        before = stop
        if first is None and stop >= late:
            pool.install("out", node, [])
            first = stop - 1
        if first is not None:
            output.drain(pool, "out")
    assert first is not None
    assert not output.changes or min(time for _, time, _ in output.changes) >= first
    for time in range(first, TIMES):
        truth = evaluate(node, contents(changes, time))
        assert output.at(time) == truth.rows, f"at time {time}"
        assert (output.errors_at(time) > 0) == bool(truth.errors), f"errors at time {time}"
    for hold in holds:
        assert rows_of(pool.scan(hold.name, as_of=0)) == contents(changes, 0)[hold.name]
