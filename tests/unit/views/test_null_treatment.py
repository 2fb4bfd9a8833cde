"""IGNORE NULLS and RESPECT NULLS inside the parentheses of a call and behind them."""

from collections import Counter
from typing import Any

import pytest

from tests.oracle import evaluate
from tests.property.shop import CATALOG
from views.compile import compile_view

# id, customer, status, day, total
ORDERS: Counter[tuple[Any, ...]] = Counter(
    {
        (1, 1, "a", None, None): 1,
        (2, 1, "b", None, 20): 1,
        (3, 1, "c", None, None): 1,
        (4, 1, "d", None, None): 1,
        (5, 1, "e", None, 50): 1,
    }
)

CALLS = [
    ("lag(total{inside}){behind}", [None, None, 20, 20, 20]),
    ("lead(total, 1, 0{inside}){behind}", [20, 50, 50, 50, 0]),
    ("first_value(total{inside}){behind}", [None, 20, 20, 20, 20]),
    ("last_value(total{inside}){behind}", [None, 20, 20, 20, 50]),
    ("nth_value(total, 2{inside}){behind}", [None, None, None, None, 50]),
]


def _values(call: str) -> list[Any]:
    """The call's values for the orders by their numbers."""
    query = f"select id, {call} over (order by id) as v from orders"
    rows: Counter[Any] = evaluate(compile_view(query, CATALOG).node, {"orders": ORDERS}).rows
    values = {row[0]: row[1] for row in rows}
    return [values[number] for number in range(1, 6)]


@pytest.mark.parametrize(("call", "values"), CALLS)
def test_nulls_are_ignored_wherever_it_is_said(call: str, values: list[Any]) -> None:
    assert _values(call.format(inside=" ignore nulls", behind="")) == values
    assert _values(call.format(inside="", behind=" ignore nulls")) == values


@pytest.mark.parametrize("call", [call for call, _ in CALLS])
def test_to_respect_nulls_is_the_default(call: str) -> None:
    plain = _values(call.format(inside="", behind=""))
    assert _values(call.format(inside=" respect nulls", behind="")) == plain
    assert _values(call.format(inside="", behind=" respect nulls")) == plain


def test_a_call_that_ignores_nulls_is_named_after_its_function() -> None:
    query = "select id, lag(total) ignore nulls over (order by id) from orders"
    assert compile_view(query, CATALOG).node.schema.names == ["id", "lag"]
