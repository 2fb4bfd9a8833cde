"""SQL means what DuckDB says it means: compiled queries, evaluated by the oracle."""

from collections import Counter
from functools import cache

import pytest
from hypothesis import given, settings

from tests.oracle import evaluate
from tests.property.queries import QUERIES
from tests.property.shop import CATALOG, Tables, judged, normal, tables
from views.compile import CompiledView, compile_view

EXAMPLES = 6

compiled = cache(lambda query: compile_view(query, CATALOG))


def answer(view: CompiledView, given: Tables) -> Counter[tuple[object, ...]]:
    """The oracle's rows, of which none may have failed."""
    result = evaluate(view.node, {name: Counter(rows) for name, rows in given.items()})
    assert not result.errors
    return normal(result.rows)


@pytest.mark.parametrize("query", QUERIES)
@given(given=tables)
@settings(max_examples=EXAMPLES, deadline=None)
def test_a_query_answers_as_in_duckdb(query: str, given: Tables) -> None:
    assert answer(compiled(query), given) == judged(query, given)


@pytest.mark.parametrize("query", QUERIES)
@given(given=tables)
@settings(max_examples=EXAMPLES // 3, deadline=None)
def test_the_default_key_is_a_column_set_without_two_equal_rows(query: str, given: Tables) -> None:
    view = compiled(query)
    if view.key == tuple(view.schema.names):
        return
    at = [view.schema.get_field_index(name) for name in view.key]
    result = evaluate(view.node, {name: Counter(rows) for name, rows in given.items()})
    keys: Counter[tuple[object, ...]] = Counter()
    for row, count in result.rows.items():
        keys[tuple(row[i] for i in at)] += count
    assert all(count == 1 for count in keys.values())
