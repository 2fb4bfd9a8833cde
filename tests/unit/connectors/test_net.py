"""Deltas folded per key and time."""

import numpy as np
import pytest

from connectors.errors import KeyNotUnique
from connectors.sinks.net import net
from tests.faults.publishing import Row, drained


def changes(*deltas: tuple[int, Row, int]):  # type: ignore[no-untyped-def]
    """Deltas as (time, row, diff)."""
    made = drained(0, [(row, diff) for _, row, diff in deltas])
    made.times[:] = np.array([time for time, _, _ in deltas], np.uint64)
    return made


def folded(*deltas: tuple[int, Row, int]) -> list[tuple[int, str | None, str | None]]:
    """(time, name before, name after) of each change."""
    made = changes(*deltas)
    found = net(made, ("id",))
    names = [*made.rows["name"].to_pylist(), None]
    columns = (found.times.tolist(), found.before.tolist(), found.after.tolist())
    return [(t, names[b], names[a]) for t, b, a in zip(*columns, strict=True)]


def test_a_row_taken_out_and_one_put_in_are_one_change_in_whatever_order() -> None:
    out, put = (1, (7, "old"), -1), (1, (7, "new"), 1)
    assert folded(out, put) == folded(put, out) == [(1, "old", "new")]


def test_a_key_changes_once_for_each_time_in_order() -> None:
    assert folded((2, (7, "b"), -1), (1, (7, "b"), 1), (2, (7, "c"), 1)) == [
        (1, None, "b"),
        (2, "b", "c"),
    ]


def test_keys_change_apart() -> None:
    assert folded((1, (7, "a"), -1), (1, (8, "b"), 1)) == [(1, "a", None), (1, None, "b")]


def test_nothing_changes_nothing() -> None:
    assert folded() == []


@pytest.mark.parametrize(
    "deltas",
    [
        [(1, (7, "a"), 1), (1, (7, "b"), 1)],
        [(1, (7, "a"), 2)],
        [(1, (7, "a"), -1), (1, (7, "b"), -1), (1, (7, "c"), 1)],
    ],
)
def test_a_key_with_several_rows_at_once_is_refused(deltas: list[tuple[int, Row, int]]) -> None:
    with pytest.raises(KeyNotUnique, match='"id":7'):
        net(changes(*deltas), ("id",))
