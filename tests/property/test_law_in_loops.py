"""The law, for every operator in one loop and in two: with times of two and three coordinates."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ivm.dataflow.nodes import Node
from tests.property.depths import in_one_loop, in_two_loops
from tests.property.engine import Change, assert_law, edges, frontiers, histories, people, run
from tests.property.nodes import NODES

IN_LOOPS: dict[str, Node] = {
    f"{name}, {where}": place(node, (people, edges))
    for where, place in {"in a loop": in_one_loop, "in two loops": in_two_loops}.items()
    for name, node in NODES.items()
}

thoroughly = settings(
    max_examples=8, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
every_node = pytest.mark.parametrize("name", IN_LOOPS)


@every_node
@thoroughly
@given(changes=histories(), stops=frontiers())
def test_output_equals_recomputation_at_every_time(
    name: str, changes: list[Change], stops: list[int]
) -> None:
    assert_law(IN_LOOPS[name], changes, stops)


@every_node
@thoroughly
@given(changes=histories(), stops=frontiers(), late=st.integers(1, 4))
def test_a_dataflow_installed_late_equals_recomputation_from_then_on(
    name: str, changes: list[Change], stops: list[int], late: int
) -> None:
    assert_law(IN_LOOPS[name], changes, stops, install_at=late)


@every_node
@thoroughly
@given(changes=histories(), stops=frontiers())
def test_two_workers_batching_released_strings_and_no_index_change_nothing(
    name: str, changes: list[Change], stops: list[int]
) -> None:
    plain = run(IN_LOOPS[name], changes, stops)
    for other in (
        run(IN_LOOPS[name], changes, stops, workers=2),
        run(IN_LOOPS[name], changes, [4]),
        run(IN_LOOPS[name], changes, stops, sweeping=True),
        run(IN_LOOPS[name], changes, stops, indexed=False),
    ):
        assert sorted(map(repr, plain.changes)) == sorted(map(repr, other.changes))
