"""The law, for every operator, on clusters of two and three members: at the root, and in loops."""

from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ivm.dataflow import copied_sides
from ivm.dataflow.nodes import DeltaJoin, Join
from ivm.dataflow.traversal import walk
from tests.property import engine
from tests.property.engine import Change, assert_law, frontiers, histories
from tests.property.members import Threads
from tests.property.nodes import NODES
from tests.property.test_law_in_loops import IN_LOOPS

often = settings(
    max_examples=settings().max_examples // 20,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
seldom = settings(often, max_examples=2)

JOINS = [
    name
    for name, node in (NODES | IN_LOOPS).items()
    if any(isinstance(each, Join | DeltaJoin) for each in walk(node))
]


def assert_law_on_members(
    members: int, name: str, changes: list[Change], stops: list[int], **how: object
) -> None:
    """The law on so many members."""
    with Threads(members) as pool:
        engine.create_inputs(pool)
        assert_law((NODES | IN_LOOPS)[name], changes, stops, pool=pool, **how)


@pytest.mark.parametrize("name", NODES)
@often
@given(
    members=st.integers(2, 3),
    changes=histories(),
    stops=frontiers(),
    late=st.integers(0, 4),
    indexed=st.booleans(),
)
def test_members_together_equal_recomputation(
    members: int, name: str, changes: list[Change], stops: list[int], late: int, indexed: bool
) -> None:
    assert_law_on_members(members, name, changes, stops, install_at=late, indexed=indexed)


@pytest.mark.parametrize("name", IN_LOOPS)
@seldom
@given(members=st.integers(2, 3), changes=histories(), stops=frontiers(), late=st.integers(0, 4))
def test_members_together_equal_recomputation_in_loops(
    members: int, name: str, changes: list[Change], stops: list[int], late: int
) -> None:
    assert_law_on_members(members, name, changes, stops, install_at=late)


@pytest.mark.parametrize("name", JOINS)
@often
@given(members=st.integers(2, 3), changes=histories(), stops=frontiers(), late=st.integers(0, 4))
def test_members_with_copies_of_sides_equal_recomputation(
    members: int, name: str, changes: list[Change], stops: list[int], late: int
) -> None:
    def is_smaller(copied: float, stays: float, processes: int) -> bool:
        return copied <= stays

    with patch.object(copied_sides, "pays", is_smaller):
        assert_law_on_members(members, name, changes, stops, install_at=late)
