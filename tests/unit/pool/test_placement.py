"""Where an operator's rows lie already, so that a second worker need not exchange them."""

import pyarrow as pa
import pytest

from ivm.aggregates import Aggregate
from ivm.dataflow import (
    Arrange,
    Concat,
    Distinct,
    EnterAt,
    Filter,
    Get,
    Iterate,
    Join,
    Map,
    Negate,
    Node,
    Recursive,
    Reduce,
    TopK,
    columns,
    project,
)
from ivm.expressions import Call, Literal
from ivm.pool import Pool
from ivm.render.placement import Placement
from ivm.render.scopes import Scope

INT = pa.int64()
PAIRS = pa.schema([pa.field(name, INT, nullable=False) for name in ("a", "b")])
pairs = Get("pairs", PAIRS)
counted = Reduce(pairs, (1,), (Aggregate("count", None, "n", INT, False),))
positive = Call("gt", (columns(pairs)[0], Literal(0, INT)), pa.bool_(), False)


def _placed(node: Node, *loops: dict[str, Node]) -> tuple[int, ...] | None:
    """The placement of `node` within nested `loops`, outer ones first, each with its bodies."""
    scope = Scope(0, 1)
    for bodies in loops:
        scope = Scope(scope.region + 1, scope.depth + 1, parent=scope, bodies=bodies)
    return Placement({"pairs": Arrange(pairs, (1,))}).of(node, scope)


def test_stored_rows_lie_by_their_key() -> None:
    assert _placed(pairs) == (1,)


def test_groups_lie_by_their_key() -> None:
    assert _placed(counted) == (0,)


def test_distinct_rows_lie_by_all_columns() -> None:
    assert _placed(Distinct(pairs)) == (0, 1)


def test_the_best_of_each_key_lie_by_it() -> None:
    assert _placed(TopK(pairs, (1,), (), 1)) == (1,)


def test_filtered_and_negated_rows_lie_where_they_were() -> None:
    assert _placed(Negate(Filter(pairs, positive))) == (1,)


def test_columns_that_move_take_the_placement_with_them() -> None:
    assert _placed(project(pairs, (1, 0))) == (0,)


def test_all_columns_in_their_order_are_the_collection_itself() -> None:
    assert project(pairs, (0, 1)) is pairs


def test_nothing_is_known_where_the_key_is_dropped() -> None:
    assert _placed(project(pairs, (0,))) is None


def test_nothing_is_known_where_the_key_is_computed() -> None:
    a, b = columns(pairs)
    doubled = Call("add", (b, b), INT, False)
    assert _placed(Map(pairs, (("a", a), ("b", doubled)))) is None


def test_pairs_lie_by_the_key_on_which_they_met() -> None:
    by_a, by_b = Arrange(pairs, (0,)), Arrange(pairs, (1,))
    assert _placed(Join(by_a, by_b, (("left", 1), ("key", 0)))) == (1,)
    assert _placed(Join(by_a, by_b, (("left", 1), ("right", 2)))) is None


def test_a_sum_lies_where_all_its_terms_do() -> None:
    assert _placed(Concat((pairs, Negate(pairs)))) == (1,)
    assert _placed(Concat((pairs, Distinct(pairs)))) is None


def test_a_recursive_name_lies_where_its_body_puts_it() -> None:
    least = Aggregate("min", 1, "b", INT, False)
    name = Recursive("least", PAIRS)
    body = Reduce(Concat((pairs, name)), (0,), (least,))
    assert _placed(name, {"least": body}) == (0,)
    assert _placed(Iterate((("least", body),), "least")) == (0,)


def test_rows_that_enter_a_loop_lie_where_they_were_outside() -> None:
    zero = Literal(0, INT)
    assert _placed(EnterAt(pairs, zero, "least"), {"least": Distinct(pairs)}) == (1,)


def test_a_name_is_that_of_its_own_loop_where_an_inner_one_binds_it_too() -> None:
    zero, name = Literal(0, INT), Recursive("name", PAIRS)
    outer: dict[str, Node] = {"name": Distinct(pairs), "other": Negate(name)}
    inner: dict[str, Node] = {"name": pairs}
    assert _placed(name, outer, inner) == (1,)
    assert _placed(Recursive("other", PAIRS), outer, inner) == (0, 1)
    assert _placed(EnterAt(name, zero, "name"), outer, inner) == (0, 1)


def test_a_name_whose_body_only_passes_it_on_lies_nowhere_known() -> None:
    name = Recursive("same", PAIRS)
    assert _placed(name, {"same": Concat((pairs, name))}) is None


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_what_is_read_in_place_is_found_by_its_key(workers: int) -> None:
    pool = Pool(workers)
    pool.create_input("pairs", PAIRS, ["a"])
    pool.install("counted", counted, ["b"])
    pool.install("swapped", project(counted, (1, 0)), ["b"])
    rows = pa.record_batch([[*range(60)], [i % 7 for i in range(60)]], schema=PAIRS)
    pool.feed("pairs", rows, pa.array([1] * 60).to_numpy(), 0)
    pool.advance(1)
    for b in range(7):
        expected = len(range(b, 60, 7))
        assert pool.peek("counted", {"b": b}).rows.to_pylist() == [{"b": b, "n": expected}]
        assert pool.peek("swapped", {"b": b}).rows.to_pylist() == [{"n": expected, "b": b}]
