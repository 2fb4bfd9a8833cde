"""The paths of delta joins: connected, complete, and over few arrangements."""

import pyarrow as pa
import pytest

from ivm.dataflow.delta_join import delta_join
from ivm.dataflow.nodes import DeltaJoin, Get, Lookup

INT = pa.int64()


def _relation(name: str, *names: str) -> Get:
    return Get(name, pa.schema([pa.field(n, INT, nullable=False) for n in names]))


r, s, t = _relation("r", "a", "b"), _relation("s", "b", "c"), _relation("t", "a", "c")


def _keys(join: DeltaJoin) -> set[tuple[str, tuple[int, ...]]]:
    return {(arrange.input.name, arrange.key) for arrange in join.inputs}  # type: ignore[attr-defined]


def test_a_path_continues_with_the_relation_that_most_columns_bind() -> None:
    triangle = delta_join((r, s, t), ((0, 4), (1, 2), (3, 5)), (("a", 0),))
    assert triangle.paths[0].lookups == (Lookup(1, (0,), (1,)), Lookup(2, (0, 1), (0, 3)))


def test_a_chain_is_followed_from_neighbour_to_neighbour() -> None:
    u = _relation("u", "c", "d")
    chain = delta_join((r, s, u), ((1, 2), (3, 4)), (("a", 0), ("d", 5)))
    orders = [[lookup.relation for lookup in path.lookups] for path in chain.paths]
    assert orders == [[1, 2], [2, 0], [1, 0]]


def test_a_chain_needs_one_arrangement_for_each_column_that_joins() -> None:
    u = _relation("u", "c", "d")
    chain = delta_join((r, s, u), ((1, 2), (3, 4)), (("a", 0), ("d", 5)))
    assert _keys(chain) == {("r", (1,)), ("s", (0,)), ("s", (1,)), ("u", (0,))}


def test_changes_are_read_in_the_order_of_their_first_look_up() -> None:
    u = _relation("u", "c", "d")
    chain = delta_join((r, s, u), ((1, 2), (3, 4)), (("a", 0), ("d", 5)))
    assert [path.key for path in chain.paths] == [(1,), (1,), (0,)]


def test_an_arrangement_of_another_path_is_preferred_to_a_new_one() -> None:
    star = delta_join((r, s, _relation("v", "a", "b")), ((0, 4), (1, 2, 5)), (("a", 0),))
    assert len(star.inputs) == 4


def test_relations_that_nothing_connects_are_looked_up_whole() -> None:
    product = delta_join((r, s), (), (("a", 0), ("c", 3)))
    assert product.paths[0].lookups == (Lookup(1, (), ()),)


def test_equal_columns_of_one_relation_are_refused() -> None:
    with pytest.raises(ValueError, match="two columns of relation 1"):
        delta_join((r, s), ((1, 2, 3),), (("a", 0),))
