"""What a Datalog program answers over the shop, by the oracle."""

from collections import Counter
from collections.abc import Mapping, Sequence

from tests.oracle import evaluate
from tests.property.shop import CATALOG, Row
from views.compile import compile_view

Given = Mapping[str, Sequence[Row]]
FOLLOWS: Given = {"follows": [(1, 2), (2, 3), (3, 1), (4, 5), (5, 5)]}


def answers(program: str, given: Given = FOLLOWS) -> set[Row]:
    """The rows of the view, none of them twice."""
    node = compile_view(program, CATALOG, language="datalog").node
    empty = {table.name: Counter[Row]() for table in CATALOG.tables}
    result = evaluate(node, empty | {name: Counter(rows) for name, rows in given.items()})
    assert not result.errors
    assert set(result.rows.values()) <= {1}
    return set(result.rows)
