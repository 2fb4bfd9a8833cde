"""Plans taken apart and built again."""

import pyarrow as pa

from tests.property.shop import CATALOG
from views.plan.nodes import Apply, Plan, Scan
from views.plan.trees import free_columns, numbers_of, renamed, walk
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
    (scan,) = (node for node in walk(copy) if isinstance(node, Scan))
    assert [a.name for a in scan.attributes if a.number in scan.key] == ["id"]


def test_a_plan_of_its_own_is_shared_by_all_that_rename_its_columns() -> None:
    bound = bind("SELECT id FROM customers", CATALOG)
    copy, fresh = renamed(bound.plan, bound.numbers)
    assert copy.input is bound.plan
    assert [(a.name, a.type) for a in fresh.values()] == [("id", pa.int64())]
