"""The law where values move in every round of a loop: states of groups add up round by round."""

from functools import partial
from random import Random
from time import process_time

import hypothesis.strategies as st
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, example, given, settings

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Column, Literal
from ivm.dataflow.nodes import Arrange, Iterate, Join, Map, Node, Recursive, Reduce, Union, columns
from ivm.pool import Pool
from tests.property.engine import EDGES, Change, assert_law, edges, frontiers, run

INT, FLOAT = pa.int64(), pa.float64()
ROUNDS = 12
WORTH = pa.schema([pa.field("node", INT, nullable=False), pa.field("v", INT)])
worth = Recursive("worth", WORTH)
AGGREGATES = {
    "sum": Aggregate("sum", 1, "v", INT, nullable=True),
    "count of rows": Aggregate("count", None, "v", INT, nullable=True),
    "count": Aggregate("count", 1, "v", INT, nullable=True),
    "bit_xor": Aggregate("bit_xor", 1, "v", INT, nullable=True),
    "bit_and": Aggregate("bit_and", 1, "v", INT, nullable=True),
    "max": Aggregate("max", 1, "v", INT, nullable=True),
}
FLOATS = {
    "sum": Aggregate("sum", 1, "v", FLOAT, nullable=True),
    "avg": Aggregate("avg", 1, "v", FLOAT, nullable=True),
    "comoment": Aggregate("comoment", 1, "v", FLOAT, nullable=True),
    "comoment of pairs": Aggregate("comoment", 1, "v", FLOAT, nullable=True, other=1),
}


def moving(aggregate: Aggregate, rounds: int = ROUNDS) -> Node:
    """A number for each node, made in each round of those of its neighbours in the round before."""
    src, dst = columns(edges)
    start = Map(edges, (("node", src), ("v", dst)))
    along = Join(Arrange(worth, (0,)), Arrange(edges, (0,)), (("node", 2), ("v", 1)))
    node, v = Column(0, INT, False), Column(1, INT, True)
    tripled = Call("add", (Call("multiply", (v, Literal(3, INT)), INT, True), node), INT, True)
    rest = Call("modulo", (tripled, Literal(101, INT)), INT, True)
    summed = Reduce(Union((start, Map(along, (("node", node), ("v", rest))))), (0,), (aggregate,))
    return Iterate((("worth", summed),), "worth", max_rounds=rounds, stops=True)


def moving_floats(aggregate: Aggregate, given: pa.DataType = FLOAT) -> Node:
    """The same of floats, with results that are rounded, of values that are `given`."""
    schema = pa.schema([WORTH.field(0), pa.field("v", FLOAT)])
    name = Recursive("worth", schema)
    src, _ = columns(edges)
    start = Map(edges, (("node", src), ("v", Literal(7 if given == INT else 0.1, given))))
    along = Join(Arrange(name, (0,)), Arrange(edges, (0,)), (("node", 2), ("v", 1)))
    node, v = Column(0, INT, False), Column(1, FLOAT, True)
    share = Call("multiply", (v, Literal(0.3, FLOAT)), FLOAT, True)
    share = share if given == FLOAT else Call("cast", (share,), INT, True)
    both = Union((start, Map(along, (("node", node), ("v", share)))))
    summed = Reduce(both, (0,), (aggregate,))
    return Iterate((("worth", summed),), "worth", max_rounds=ROUNDS, stops=True)


@st.composite
def rewirings(draw: st.DrawFn, times: int = 4) -> list[Change]:
    """A graph with cycles, of which edges come and go at later times."""
    ends = st.tuples(st.integers(0, 5), st.integers(0, 5))
    present = draw(st.lists(ends, min_size=6, max_size=14, unique=True))
    changes = [Change("edges", edge, 0, 1) for edge in present]
    for edge in draw(st.lists(ends, max_size=8, unique=True)):
        time = draw(st.integers(0, times - 1))
        changes.append(Change("edges", edge, time, -1 if edge in present else 1))
        if draw(st.booleans()):
            back = draw(st.integers(time, times - 1))
            changes.append(Change("edges", edge, back, 1 if edge in present else -1))
    return changes


thoroughly = settings(
    max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
every_aggregate = pytest.mark.parametrize("name", AGGREGATES)


@every_aggregate
@thoroughly
@given(changes=rewirings(), stops=frontiers())
@example(changes=[Change("edges", (i, (i + 1) % 3), i, 1) for i in range(3)], stops=[4])
def test_output_equals_recomputation_at_every_time(
    name: str, changes: list[Change], stops: list[int]
) -> None:
    assert_law(moving(AGGREGATES[name]), changes, stops)


@pytest.mark.parametrize("name", FLOATS)
@thoroughly
@given(changes=rewirings(), stops=frontiers())
def test_floats_equal_recomputation_at_every_time(
    name: str, changes: list[Change], stops: list[int]
) -> None:
    assert_law(moving_floats(FLOATS[name]), changes, stops)


@thoroughly
@given(changes=rewirings(), stops=frontiers())
def test_comoments_of_integers_equal_recomputation(changes: list[Change], stops: list[int]) -> None:
    assert_law(moving_floats(FLOATS["comoment"], INT), changes, stops)


@thoroughly
@given(changes=rewirings(times=16), stops=frontiers(16))
def test_many_times_of_one_step_are_told_apart(changes: list[Change], stops: list[int]) -> None:
    assert_law(moving(AGGREGATES["sum"]), changes, stops)


@every_aggregate
@thoroughly
@given(changes=rewirings(), stops=frontiers())
def test_workers_and_batching_change_nothing(
    name: str, changes: list[Change], stops: list[int]
) -> None:
    made = partial(run, moving(AGGREGATES[name]), changes)
    plain = made(stops)
    for other in (made(stops, workers=2), made([4]), made(stops, sweeping=True)):
        assert sorted(map(repr, plain.changes)) == sorted(map(repr, other.changes))


@pytest.mark.parametrize("times", [1, 5])
def test_a_dataflow_installed_late_equals_recomputation_from_then_on(times: int) -> None:
    graph = [Change("edges", (i, j), 0, 1) for i in range(5) for j in range(5) if (i * j) % 3 != 1]
    later = [Change("edges", (i, i), 1 + i % times, -1) for i in range(5) if (i * i) % 3 != 1]
    for install_at in (0, 1, 2):
        assert_law(moving(AGGREGATES["sum"]), graph + later, [1, 2, 8], install_at=install_at)


def moving_with_before(rounds: int = ROUNDS) -> Node:
    """A sum of each node's neighbours, to which that of the round before is joined and added."""
    summed = moving(AGGREGATES["sum"], rounds)
    assert isinstance(summed, Iterate)
    ((_, fresh),) = summed.bindings
    both = Join(Arrange(fresh, (0,)), Arrange(worth, (0,)), (("node", 0), ("new", 1), ("old", 2)))
    node, new, old = columns(both)
    total = Call("add", (new, old), INT, True)
    rest = Call("modulo", (total, Literal(101, INT)), INT, True)
    added = Map(both, (("node", node), ("v", rest)))
    body = Reduce(Union((fresh, added)), (0,), (AGGREGATES["sum"],))
    return Iterate((("worth", body),), "worth", max_rounds=rounds, stops=True)


@thoroughly
@given(changes=rewirings(), stops=frontiers())
def test_a_join_of_what_moves_with_its_past_equals_recomputation(
    changes: list[Change], stops: list[int]
) -> None:
    assert_law(moving_with_before(), changes, stops)


def _took(node: Node) -> tuple[float, float]:
    """Processor seconds of a load, and the median of one changed edge."""
    pool = Pool()
    pool.create_input("edges", EDGES, ())
    pool.install("out", node, None)
    chance = Random(1)
    rows = [(chance.randrange(40), chance.randrange(40)) for _ in range(160)]
    spent = []
    for time in range(8):
        given = rows if time == 0 else [rows[time], (time, 2 * time)]
        diffs = np.ones(len(given), np.int64) if time == 0 else np.array([-1, 1])
        batch = pa.RecordBatch.from_pydict(
            {"src": [src for src, _ in given], "dst": [dst for _, dst in given]}, EDGES
        )
        began = process_time()
        pool.feed("edges", batch, diffs, time)
        pool.advance(time + 1)
        spent.append(process_time() - began)
    return spent[0], sorted(spent[1:])[3]


def test_a_load_and_a_change_take_time_as_there_are_rounds() -> None:
    few, many = _took(moving(AGGREGATES["sum"], 25)), _took(moving(AGGREGATES["sum"], 200))
    assert many[0] < 24 * few[0]
    assert many[1] < 24 * few[1]
