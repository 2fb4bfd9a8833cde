"""Plans taken apart and built again."""

import pyarrow as pa
import pytest

from tests.property.shop import CATALOG
from views.plan.nodes import Apply, Get, Join, Map, Plan
from views.plan.scalars import TRUE
from views.plan.trees import ambiguous_columns, free_columns, numbers_of, renamed, walk
from views.rewrites import rewrite
from views.rewrites.context import Context
from views.sql.bind import bind

QUERY = (
    "SELECT id, (SELECT sum(total) FROM orders WHERE customer_id = customers.id AND status = 'new'"
    " GROUP BY status ORDER BY status LIMIT 1) AS total FROM customers"
)


def _made(plan: Plan) -> set[int]:
    """The numbers of all columns that are made within `plan`."""
    return {number for node in walk(plan) for number in numbers_of(node)}


def test_a_plan_that_reads_an_enclosing_row_shares_no_column_with_its_copy() -> None:
    bound = bind(QUERY, CATALOG)
    (apply,) = (node for node in walk(bound.plan) if isinstance(node, Apply))
    correlated = apply.right
    copy, fresh = renamed(correlated, bound.numbers)
    assert not _made(copy) & _made(correlated)
    assert free_columns(copy) == free_columns(correlated) != {}
    assert [fresh[a.number] for a in correlated.attributes] == list(copy.attributes)


def test_a_copied_scan_has_the_same_key() -> None:
    bound = bind(QUERY, CATALOG)
    (apply,) = (node for node in walk(bound.plan) if isinstance(node, Apply))
    copy, _ = renamed(apply.right, bound.numbers)
    (scan,) = (node for node in walk(copy) if isinstance(node, Get))
    assert [a.name for a in scan.attributes if a.number in scan.key] == ["id"]


def test_a_plan_of_its_own_is_shared_by_all_that_rename_its_columns() -> None:
    bound = bind("SELECT id + 1 AS id FROM customers", CATALOG)
    copy, fresh = renamed(bound.plan, bound.numbers)
    other, _ = renamed(copy, bound.numbers)
    assert isinstance(bound.plan, Map)
    assert other.input is copy.input is bound.plan.input
    assert [(a.name, a.type) for a in fresh.values()] == [("id", pa.int64())]


NESTED = (
    "SELECT a.id, l.m FROM customers a, LATERAL (SELECT (SELECT count(*) FROM customers c"
    " WHERE c.name >= b.name AND c.id <> a.id) AS m FROM customers b WHERE {bound}) l"
)


@pytest.mark.parametrize("bound", ["b.id = a.id", "b.id::int = a.id", "b.id < a.id"])
def test_no_join_of_an_unnested_query_has_a_column_on_both_sides(bound: str) -> None:
    query = bind(NESTED.format(bound=bound), CATALOG)
    assert not ambiguous_columns(rewrite(query.plan, Context(query.numbers)))


def test_a_join_of_a_plan_with_itself_has_its_columns_on_both_sides() -> None:
    plan = bind("SELECT id FROM customers", CATALOG).plan
    assert ambiguous_columns(Join("inner", plan, plan, TRUE)) == numbers_of(plan)
