"""Exchanges stand where equal keys have to meet and do not yet, and nowhere else."""

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings

from ivm.dataflow.aggregates import Aggregate, Order
from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.distribution import delivered, distributed
from ivm.dataflow.exchange_node import Exchange
from ivm.dataflow.nodes import (
    Arrange,
    Constant,
    Distinct,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Node,
    Recursive,
    Reduce,
    TopK,
    Union,
    columns,
    project,
)
from ivm.dataflow.traversal import walk
from ivm.dataflow.validate import check
from tests.oracle import evaluate
from tests.property.engine import Change, contents, histories
from tests.property.nodes import NODES
from tests.property.test_law_in_loops import IN_LOOPS

INT = pa.int64()
ROW = pa.schema([pa.field(name, INT, nullable=False) for name in ("a", "b", "c")])
EDGE = pa.schema([pa.field(name, INT, nullable=False) for name in ("src", "dst")])
NODE = pa.schema([pa.field("node", INT, nullable=False)])
rows, edges = Get("rows", ROW), Get("edges", EDGE)
PLACED = {"rows": (0,), "edges": (0, 1)}
count = Aggregate("count", None, "n", INT, False)


def text(node: Node) -> str:
    """The tree of a node, with exchanges as their keys."""
    if isinstance(node, Exchange):
        return f"{node.text(str)}: {text(node.input)}"
    below = ", ".join(map(text, node.children))
    name = node.name if isinstance(node, Get | Recursive) else type(node).__name__
    return f"{name}({below})" if below else name


def plan(node: Node) -> tuple[str, tuple[int, ...] | None]:
    """The text of the distributed node, and its placement."""
    made, placement = distributed(node, PLACED)
    return text(made), placement


by_b = Reduce(rows, (1,), (count,))
reach = Iterate(
    (
        (
            "x",
            Distinct(
                Union(
                    (
                        project(edges, (0,)),
                        Join(
                            Arrange(Recursive("x", NODE), (0,)),
                            Arrange(edges, (0,)),
                            (("node", 1),),
                        ),
                    )
                )
            ),
        ),
    ),
    "x",
)
GOLDEN: dict[str, tuple[Node, str, tuple[int, ...] | None]] = {
    "an input lies by its key": (rows, "rows", (0,)),
    "a reduction by more than the key stays": (
        Reduce(rows, (1, 0), (count,)),
        "Reduce(rows)",
        (1,),
    ),
    "a reduction by another key moves rows": (
        by_b,
        "Reduce(by ($0), added up: Map(rows))",
        (0,),
    ),
    "a reduction of a reduction by its key stays": (
        Reduce(by_b, (0,), (count,)),
        "Reduce(Reduce(by ($0), added up: Map(rows)))",
        (0,),
    ),
    "a projection that keeps the key keeps the place": (
        project(rows, (2, 0)),
        "Map(rows)",
        (1,),
    ),
    "one that drops it loses the place": (project(rows, (2,)), "Map(rows)", None),
    "an arrangement by the key stays": (Arrange(rows, (0,)), "Arrange(rows)", (0,)),
    "one by part of the key or more does not, since both sides of a join must meet": (
        Join(Arrange(rows, (0, 1)), Arrange(edges, (0, 1)), (("a", 0), ("b", 1))),
        "Join(Arrange(by ($0, $1): rows), Arrange(edges))",
        (0, 1),
    ),
    "constants, which all have, are kept by their owners": (
        Constant(((1, 2),), EDGE),
        "own by ($0, $1): Constant",
        (0, 1),
    ),
    "a global selection is in one place": (
        TopK(rows, (), (Order(1),), 3),
        "TopK(by (): rows)",
        (),
    ),
    "a sum of rows that lie alike lies so": (
        Union((rows, Filter(rows, columns(rows)[0]))),
        "Union(rows, Filter(rows))",
        (0,),
    ),
    "a recursion exchanges once in a round": (
        reach,
        "Iterate(Distinct(by ($0), added up: "
        "Union(Map(edges), Join(Arrange(x), Arrange(by ($0): edges)))))",
        (0,),
    ),
}


@pytest.mark.parametrize("name", GOLDEN)
def test_exchanges_stand_where_they_are_needed(name: str) -> None:
    node, wanted, placement = GOLDEN[name]
    assert plan(node) == (wanted, placement)


def test_what_is_delivered_has_equal_rows_in_one_place() -> None:
    assert text(delivered(project(rows, (2,)), PLACED)) == "by ($0): Map(rows)"
    assert text(delivered(rows, PLACED)) == "rows"


def test_a_delta_join_becomes_joins_of_two_with_the_same_columns() -> None:
    joined = delta_join([rows, edges, rows], [{1, 3}, {4, 5}], [("a", 0), ("last", 7)])
    made, _ = distributed(joined, PLACED)
    assert made.schema == joined.schema
    assert not any(type(each) is type(joined) for each in walk(made))


def test_names_that_pass_on_rows_without_a_sum_lie_by_whole_rows() -> None:
    x = Recursive("x", EDGE)
    swapped = Map(x, (("src", columns(x)[1]), ("dst", columns(x)[0])))
    made, _ = distributed(Iterate((("x", Union((edges, swapped))),), "x"), PLACED)
    assert text(made) == "Iterate(by ($0, $1): Union(edges, Map(x)))"


@pytest.mark.parametrize("name", [*NODES, *IN_LOOPS])
@settings(max_examples=2, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(changes=histories(times=1))
def test_a_distributed_node_fits_and_denotes_the_same(name: str, changes: list[Change]) -> None:
    node = (NODES | IN_LOOPS)[name]
    made, _ = distributed(node, {"people": (0,), "edges": (0, 1)})
    check(made)
    assert made.schema == node.schema
    held = contents(changes, 0)
    assert evaluate(made, held) == evaluate(node, held)


def total(taken: pa.DataType, given: pa.DataType, *others: Aggregate) -> str:
    """The plan of a sum over all rows of a column of one type, in another."""
    table = Get("table", pa.schema([("id", INT), ("amount", taken)]))
    node = Reduce(table, (), (Aggregate("sum", 1, "total", given, True), *others))
    made, _ = distributed(node, {"table": (0,)})
    check(made)
    return text(made)


def test_a_sum_over_all_rows_is_summed_before_it_travels() -> None:
    of_parts = "Reduce(by (), added up: Reduce(table))"
    assert total(pa.int32(), INT, count) == of_parts
    assert total(INT, pa.decimal128(38, 0), count) == of_parts
    assert total(pa.decimal128(12, 2), pa.decimal128(38, 2)) == of_parts


def test_a_sum_whose_parts_may_not_be_exact_is_made_by_one_process() -> None:
    by_one = "Reduce(by (), added up: Map(table))"
    assert total(INT, INT) == by_one
    assert total(pa.float64(), pa.float64()) == by_one
    least = Aggregate("min", 1, "least", pa.int32(), True)
    assert total(pa.int32(), INT, least) == "Reduce(by (): table)"
