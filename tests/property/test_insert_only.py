"""The law where inputs only grow: recursion without histories answers like the general one."""

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.property.engine import Change, assert_law, frontiers, histories, run
from tests.property.growing import GROWING
from tests.property.nodes import NODES

thoroughly = settings(
    max_examples=20, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)
ALL = {**NODES, **GROWING}


@st.composite
def insertions(draw: st.DrawFn) -> list[Change]:
    """Rows that come and stay; edges among few nodes, so that there are many ways to each row."""
    people = [c for c in draw(histories(size=8)) if c.diff > 0 and c.table == "people"]
    edge = st.tuples(st.integers(0, 4), st.integers(0, 4))
    edges = draw(st.lists(st.tuples(edge, st.integers(0, 3)), max_size=12))
    return [*people, *(Change("edges", row, time, 1) for row, time in edges)]


@pytest.mark.parametrize("name", ALL)
@thoroughly
@given(changes=insertions(), stops=frontiers(), workers=st.integers(1, 2), late=st.integers(0, 3))
def test_output_equals_recomputation_at_every_time(
    name: str, changes: list[Change], stops: list[int], workers: int, late: int
) -> None:
    how = {"workers": workers, "install_at": late, "sweeping": True}
    assert_law(ALL[name], changes, stops, insert_only=True, **how)


@pytest.mark.parametrize("name", GROWING)
@thoroughly
@given(changes=insertions())
def test_all_times_in_one_step_give_the_changes_of_a_step_for_each(
    name: str, changes: list[Change]
) -> None:
    whole, steps = (
        run(GROWING[name], changes, stops, insert_only=True) for stops in ([4], [1, 2, 3, 4])
    )
    assert sorted(map(repr, whole.changes)) == sorted(map(repr, steps.changes))


@pytest.mark.parametrize("name", GROWING)
@thoroughly
@given(changes=histories(size=20), stops=frontiers())
def test_the_same_nodes_over_inputs_that_shrink(
    name: str, changes: list[Change], stops: list[int]
) -> None:
    assert_law(GROWING[name], changes, stops)
