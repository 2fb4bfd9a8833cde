"""An arrangement has its key's columns first, then the others as they were."""

import pyarrow as pa

from ivm.dataflow.arrangement_order import arranged_positions, arrangement_order
from ivm.dataflow.nodes import Arrange, Get

ROWS = Get("rows", pa.schema([pa.field(name, pa.int64()) for name in "abcd"]))


def test_the_key_comes_first_in_its_own_order_and_the_others_follow_ascending() -> None:
    assert arrangement_order(4, (3, 1)) == (3, 1, 0, 2)


def test_without_a_key_nothing_moves() -> None:
    assert arrangement_order(3, ()) == (0, 1, 2)


def test_positions_are_the_inverse_of_the_order() -> None:
    order, positions = arrangement_order(4, (3, 1)), arranged_positions(4, (3, 1))
    assert [positions[column] for column in order] == [0, 1, 2, 3]


def test_an_arrangement_read_as_a_collection_has_this_order() -> None:
    assert Arrange(ROWS, (3, 1)).schema.names == ["d", "b", "a", "c"]
