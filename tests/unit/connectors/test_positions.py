"""Positions in a database's log tell an old record from a new one."""

from typing import Any

import pytest

from connectors.envelopes.positions import positions


def change(sequence: str | None, op: str = "c") -> dict[str, Any]:
    return {"op": op, "source": {"sequence": sequence}}


@pytest.mark.parametrize(
    ("sequence", "position"),
    [('["20","24"]', [20, 24]), ('[null,"24"]', [24, 24]), (None, [0, 0])],
)
def test_a_change_before_the_first_commit_stands_where_it_is(
    sequence: str | None, position: list[int]
) -> None:
    order = positions([change(sequence), change('["30","34"]')])
    assert order is not None
    assert order.tolist() == [position, [30, 34]]


def test_a_row_of_a_snapshot_has_no_position() -> None:
    assert positions([change('[null,"24"]', "r")]) is None
