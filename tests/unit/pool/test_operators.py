"""`Pool.operators`: rows, bytes and time of each operator of a dataflow, and rounds of loops."""

import numpy as np
import pyarrow as pa
import pytest

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Expression, Literal
from ivm.dataflow.nodes import (
    Arrange,
    Distinct,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    Union,
    columns,
)
from ivm.errors import UnknownCollection
from ivm.pool import Pool
from ivm.results import LoopInfo, OperatorInfo, RoundClass

INT = pa.int64()
EDGES = pa.schema([pa.field(name, INT, nullable=False) for name in ("src", "dst")])
DEPTHS = pa.schema([pa.field(name, INT, nullable=False) for name in ("node", "depth")])
edges = Get("edges", EDGES)
NODES = 10  # of a path: 0 to 1, 1 to 2, and so on


def bfs() -> Node:
    """The least number of steps from node 0 to each node."""
    depths = Recursive("depths", DEPTHS)
    along = Join(Arrange(depths, (0,)), Arrange(edges, (0,)), (("node", 2), ("depth", 1)))
    node, depth = columns(along)
    onward = Call("add", (depth, Literal(1, INT)), INT, False)
    root = Call("eq", (columns(edges)[0], Literal(0, INT)), pa.bool_(), False)
    start = Map(Filter(edges, root), (("node", Literal(0, INT)), ("depth", Literal(0, INT))))
    proposed = Map(along, (("node", node), ("depth", onward)))
    least = Aggregate("min", 1, "depth", INT, False)
    body = Reduce(Union((Distinct(start), proposed)), (0,), (least,))
    return Iterate((("depths", body),), "depths")


def closure(source: Node = edges) -> Iterate:
    reached = Recursive("reached", EDGES)
    onward = Join(Arrange(reached, (1,)), Arrange(edges, (0,)), (("src", 1), ("dst", 2)))
    return Iterate((("reached", Distinct(Union((source, onward)))),), "reached")


def pool(workers: int = 1) -> Pool:
    made = Pool(workers)
    made.create_input("edges", EDGES, ["src"])
    return made


def feed(to: Pool, src: list[int], dst: list[int], diff: int = 1) -> None:
    rows = pa.record_batch([pa.array(src, INT), pa.array(dst, INT)], schema=EDGES)
    to.feed("edges", rows, np.full(len(src), diff, np.int64), to.frontier)
    to.advance(to.frontier + 1)


def path(workers: int = 1) -> Pool:
    made = pool(workers)
    feed(made, list(range(NODES - 1)), list(range(1, NODES)))
    return made


def operator(of: Pool, kind: str, name: str = "view") -> OperatorInfo:
    (found,) = [each for each in of.operators(name).operators if each.kind == kind]
    return found


def rounds(of: Pool) -> LoopInfo:
    found = operator(of, "Loop").rounds
    assert found is not None
    return found


def classes(*each: tuple[int, int | None, int, int]) -> tuple[RoundClass, ...]:
    return tuple(RoundClass(*one) for one in each)


def test_operators_are_named_and_numbered_as_in_the_plan() -> None:
    made = path()
    text = [line.strip() for line in made.plan_text(closure(), ["src"]).splitlines()]
    made.install("view", closure(), ["src"])
    found = made.operators("view")
    lines = [f"#{each.number} {each.kind} {each.text}" for each in found.operators]
    assert lines == [line.replace("(new)", "view") for line in text if line.startswith("#")]
    assert [reused.name for reused in found.reused] == ["edges[src]"]


def test_operators_tell_what_they_read_and_make() -> None:
    made = path()
    made.install("view", closure(), ["src"])
    loop, join, variable = (operator(made, kind) for kind in ("Loop", "Join", "Variable"))
    assert (variable.loop, join.loop, loop.loop) == (loop.number, loop.number, None)
    assert join.uses == ("edges[src]",)
    (read,) = join.reads
    (arranged,) = [e for e in made.operators("view").operators if e.number == read]
    assert (arranged.kind, arranged.arrangement) == ("Arrange", "view[src]")
    assert operator(made, "CaptureArranged").arrangement is None


@pytest.mark.parametrize("workers", [1, 2])
def test_rows_count_what_each_operator_has_put_out(workers: int) -> None:
    made = path(workers)
    made.install("view", closure(), ["src"])
    pairs = NODES * (NODES - 1) // 2
    assert operator(made, "Join").rows == pairs - (NODES - 1)
    assert operator(made, "Leave").rows == operator(made, "CaptureArranged").rows == pairs
    feed(made, [NODES - 1], [NODES])
    assert operator(made, "Leave").rows == pairs + NODES
    step = operator(made, "Leave").step
    assert step is not None
    assert (step.time, step.rows) == (1, NODES)


def test_pairs_that_are_evaluated_early_count_as_the_joins() -> None:
    made = path()
    pairs = Join(Arrange(edges, ()), Arrange(edges, ()), (("a", 0), ("b", 2)))
    a, b = columns(pairs)
    equal = Filter(pairs, Call("eq", (a, b), pa.bool_(), False))
    made.install("view", equal, ["a"])
    assert operator(made, "Join").rows == (NODES - 1) ** 2
    assert operator(made, "Evaluate").rows == NODES - 1


def test_a_path_takes_a_round_for_each_of_its_nodes() -> None:
    made = path()
    made.install("view", bfs(), ["node"])
    # In round 0 node 0 is found, and in round i + 1 its distance, i, has come to node i.
    assert rounds(made) == LoopInfo(
        rounds=NODES + 1,
        most_rounds=NODES + 1,
        last_round=NODES,
        step_rounds=NODES + 1,
        step_last_round=NODES,
        classes=classes((0, 0, 1, 0), (1, 1, 1, 1), (2, 3, 2, 2), (4, 7, 4, 4), (8, 15, 3, 3)),
    )


def test_a_change_at_the_end_takes_the_rounds_that_it_reaches() -> None:
    made = path()
    made.install("view", bfs(), ["node"])
    feed(made, [NODES - 1], [NODES])
    found = rounds(made)
    # The edge comes in round 0, and meets node 9 where that was found.
    assert (found.step_last_round, found.last_round) == (NODES + 1, NODES + 1)
    assert found.step_rounds < found.most_rounds == NODES + 1
    assert sum(each.changes for each in found.classes) == 1
    assert found.classes[-1] == RoundClass(8, 15, found.classes[-1].rounds, 1)


def test_a_loop_within_a_loop_is_counted_in_all_rounds_of_that() -> None:
    made = path()
    outer = Recursive("outer", EDGES)
    body = Distinct(Union((edges, closure(outer))))
    made.install("view", Iterate((("outer", body),), "outer"), ["src"])
    outside, inside = sorted(
        (each for each in made.operators("view").operators if each.kind == "Loop"),
        key=lambda each: each.loop is not None,
    )
    assert outside.rounds is not None
    assert inside.rounds is not None
    assert inside.loop == outside.number
    assert inside.rounds.step_rounds > outside.rounds.step_rounds
    assert inside.rounds.last_round <= NODES


def test_time_is_taken_of_hydration_and_of_later_steps() -> None:
    made = path()
    made.install("view", closure(), ["src"])
    first = operator(made, "Loop").seconds
    assert 0 < first < 60
    for node in range(80):  # more steps than lie between two that are timed
        feed(made, [node + NODES], [node + NODES + 1])
    assert operator(made, "Loop").seconds > first
    body = [e.seconds for e in made.operators("view").operators if e.loop is not None]
    assert operator(made, "Loop").seconds == pytest.approx(sum(body))


def test_bytes_are_those_of_arrangements_and_states() -> None:
    made = pool()
    count = Reduce(edges, (0,), (Aggregate("count", None, "n", INT, False),))
    made.install("view", count, ["src"])
    feed(made, list(range(10_000)), list(range(10_000)))
    accounts = {info.name: info.bytes for info in made.arrangements()}
    assert operator(made, "AccumulateArranged").bytes >= accounts["view[src] (groups)"]
    assert operator(made, "Arrange").bytes >= accounts["view[src]"] > 100_000


def test_what_was_made_for_others_is_told_as_a_whole() -> None:
    made = path()
    by_dst = Reduce(edges, (1,), (Aggregate("count", None, "n", INT, False),))
    made.install("view", by_dst, ["dst"])
    made.install("twice", Distinct(Map(Get("view", by_dst.schema), columns_named("n"))), ["n"])
    (reused,) = made.operators("twice").reused
    assert (reused.name, reused.rows, reused.users) == ("view[dst]", NODES - 1, ("view", "twice"))
    assert reused.bytes > 0
    assert reused.seconds > 0


def columns_named(*names: str) -> tuple[tuple[str, Expression], ...]:
    schema = pa.schema([pa.field("dst", INT, nullable=False), pa.field("n", INT, nullable=False)])
    every = dict(zip(schema.names, columns(Get("view", schema)), strict=True))
    return tuple((name, every[name]) for name in names)


def test_inputs_and_others_have_no_operators() -> None:
    made = path()
    for name in ("edges", "nobody"):
        with pytest.raises(UnknownCollection):
            made.operators(name)


def test_arrangements_tell_the_time_that_making_them_has_taken() -> None:
    made = path()
    made.install("view", closure(), ["src"])
    seconds = {info.name: info.seconds for info in made.arrangements()}
    parts = [e for e in made.operators("view").operators if e.arrangement == "view[src]"]
    assert seconds["view[src]"] == pytest.approx(sum(e.seconds for e in parts if e.loop is None))
    assert seconds["view[src] (histories)"] is None
