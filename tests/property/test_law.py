"""The law, for every operator: incremental output equals recomputation at every time."""

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.property.engine import Change, assert_law, frontiers, histories, run
from tests.property.nodes import NODES

thoroughly = settings(
    max_examples=settings().max_examples // 5,
    deadline=None,
    suppress_health_check=list(HealthCheck),
    derandomize=True,
)
every_node = pytest.mark.parametrize("name", NODES)


@every_node
@thoroughly
@given(changes=histories(), stops=frontiers())
def test_output_equals_recomputation_at_every_time(
    name: str, changes: list[Change], stops: list[int]
) -> None:
    assert_law(NODES[name], changes, stops)


@every_node
@thoroughly
@given(changes=histories(), stops=frontiers(), late=st.integers(1, 4), beside=st.booleans())
def test_a_dataflow_installed_late_equals_recomputation_from_then_on(
    name: str, changes: list[Change], stops: list[int], late: int, beside: bool
) -> None:
    assert_law(NODES[name], changes, stops, install_at=late, beside=beside)


@every_node
@thoroughly
@given(changes=histories(size=20), stops=frontiers())
def test_two_workers_answer_as_one(name: str, changes: list[Change], stops: list[int]) -> None:
    one, two = (run(NODES[name], changes, stops, workers=n) for n in (1, 2))
    assert sorted(map(repr, one.changes)) == sorted(map(repr, two.changes))
    assert sorted(one.errors) == sorted(two.errors)


@every_node
@thoroughly
@given(changes=histories(), stops=frontiers(), late=st.integers(0, 4), workers=st.integers(1, 2))
def test_changes_that_nothing_arranges_equal_recomputation(
    name: str, changes: list[Change], stops: list[int], late: int, workers: int
) -> None:
    node = NODES[name]
    assert_law(node, changes, stops, install_at=late, workers=workers, indexed=False, sweeping=True)


@every_node
@thoroughly
@given(changes=histories(), stops=frontiers())
def test_releasing_strings_after_every_step_changes_nothing(
    name: str, changes: list[Change], stops: list[int]
) -> None:
    assert_law(NODES[name], changes, stops, sweeping=True)


@every_node
@thoroughly
@given(changes=histories())
def test_batching_does_not_change_the_output(name: str, changes: list[Change]) -> None:
    whole, steps = (run(NODES[name], changes, stops) for stops in ([4], [1, 2, 3, 4]))
    assert sorted(map(repr, whole.changes)) == sorted(map(repr, steps.changes))
