"""The law for delta joins where tuples are dense: several members of one are new at once."""

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, given, settings

from tests.property.delta_joins import DELTA_JOINS
from tests.property.engine import Change, assert_law, frontiers

thoroughly = settings(
    max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True
)


@st.composite
def dense(draw: st.DrawFn) -> list[Change]:
    """Edges among three nodes, which are people too; some are deleted or come twice."""
    changes = [
        Change(
            "people",
            (i, draw(st.sampled_from([None, "a"])), draw(st.integers(0, 2)), None, 0.0),
            0,
            1,
        )
        for i in range(3)
    ]
    for _ in range(draw(st.integers(1, 8))):
        row, time = draw(st.tuples(st.integers(0, 2), st.integers(0, 2))), draw(st.integers(0, 3))
        changes.append(Change("edges", row, time, 1))
        if draw(st.integers(0, 3)) == 0:
            changes.append(Change("edges", row, draw(st.integers(time, 3)), -1))
    return changes


@pytest.mark.parametrize("name", DELTA_JOINS)
@thoroughly
@given(changes=dense(), stops=frontiers(), workers=st.integers(1, 2), late=st.integers(0, 3))
def test_each_tuple_is_made_once_whichever_members_are_new(
    name: str, changes: list[Change], stops: list[int], workers: int, late: int
) -> None:
    assert_law(DELTA_JOINS[name], changes, stops, workers=workers, install_at=late)
