"""Nodes compare by structure, however deep they are and however many paths lead through them."""

import pyarrow as pa
import pytest

from ivm.dataflow.nodes import Arrange, Constant, Distinct, Get, Join, Negate, Node, Union

SCHEMA = pa.schema([pa.field("x", pa.int64(), nullable=False)])
OUTPUTS = (("x", 0),)


def joined(leaf: str, levels: int) -> Node:
    """A join of a join with itself and so on: 2 to the `levels` paths lead to the leaf."""
    node: Node = Get(leaf, SCHEMA)
    for _ in range(levels):
        node = Join(Arrange(node, (0,)), Arrange(node, (0,)), OUTPUTS)
    return node


def negated(leaf: str, levels: int) -> Node:
    node: Node = Get(leaf, SCHEMA)
    for _ in range(levels):
        node = Negate(node)
    return node


@pytest.mark.timeout(20)
def test_nodes_with_many_paths_are_compared_node_by_node() -> None:
    one, same, other = joined("a", 60), joined("a", 60), joined("b", 60)
    assert one is not same
    assert one == same
    assert hash(one) == hash(same)
    assert one != other


def test_deep_nodes_are_compared_on_an_ordinary_stack() -> None:
    assert negated("a", 3_000) == negated("a", 3_000) != negated("a", 3_001)


def test_nodes_of_different_kinds_or_parts_differ() -> None:
    get = Get("a", SCHEMA)
    assert Distinct(get) != Negate(get)
    assert Union((get, get)) != Union((get,))
    assert Get("a", SCHEMA) != Get("a", pa.schema([("x", pa.int64())]))
    assert Constant(((1,),), SCHEMA) != Constant(((2,),), SCHEMA)
    assert get != "a"
