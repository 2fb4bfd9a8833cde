"""How large an arrangement would be, foretold from the rows that there are."""

import numpy as np
import pyarrow as pa

from ivm.dataflow.aggregates import Aggregate
from ivm.dataflow.expressions import Call, Column, Expression, Literal
from ivm.dataflow.nodes import Arrange, Filter, Get, Join, Map, Node, Reduce, Union, project
from ivm.pool import Pool
from ivm.results import Foretold

NUMBER = pa.int64()
ROWS = pa.schema([pa.field(name, NUMBER, nullable=False) for name in ("id", "a", "b")])
rows = Get("rows", ROWS)


def pool(count: int) -> Pool:
    """A pool whose input `rows` has `count` rows."""
    made = Pool()
    made.create_input("rows", ROWS, ["id"])
    numbers = pa.array(range(count), NUMBER)
    batch = pa.RecordBatch.from_arrays([numbers] * 3, schema=ROWS)
    made.feed("rows", batch, np.ones(count, np.int64), 0)
    made.advance(1)
    return made


def condition(function: str) -> Expression:
    return Call(function, (Column(1, NUMBER, False), Literal(3, NUMBER)), pa.bool_(), False)


def test_a_table_arranged_anew_is_as_large_as_it_is_now() -> None:
    (foretold,) = pool(500).explain(rows, ["a"]).foretold
    assert foretold == Foretold("rows[a]", 500, 500 * 3 * 8)


def test_an_arrangement_is_foretold_as_large_as_it_becomes() -> None:
    full = pool(500)
    (foretold,) = full.explain(rows, ["a"]).foretold
    full.install("by_a", rows, ["a"])
    (made,) = [info for info in full.arrangements() if info.name == "rows[a]"]
    assert foretold.rows == made.records
    assert abs(foretold.bytes - made.bytes) < 1000


def test_conditions_keep_a_share_of_the_rows() -> None:
    of_500 = pool(500)
    for function, kept in (("eq", 50), ("lt", 167), ("ne", 450)):
        (foretold,) = of_500.explain(Filter(rows, condition(function)), ["id"]).foretold
        assert foretold.rows == kept


def test_of_two_sides_the_larger_one_finds_one_partner_for_each_row() -> None:
    few = Filter(rows, condition("eq"))
    node = Join(Arrange(few, (1,)), Arrange(rows, (1,)), (("id", 1), ("b", 2)))
    sizes = {each.name: each.rows for each in pool(500).explain(node, ["id"]).foretold}
    assert sizes == {"(new)[a]": 50, "rows[a]": 500, "(new)[id]": 500}


def test_a_group_has_ten_rows() -> None:
    node = Reduce(project(rows, (1,)), (0,), (Aggregate("count", None, "n", NUMBER, False),))
    (foretold,) = pool(500).explain(node, ["a"]).foretold
    assert (foretold.rows, foretold.bytes) == (50, 50 * 2 * 8)


def test_a_join_by_a_constant_makes_all_pairs() -> None:
    one = Map(rows, (("id", Column(0, NUMBER, False)), ("one", Literal(1, NUMBER))))
    node = Join(Arrange(one, (1,)), Arrange(one, (1,)), (("id", 1), ("other", 2)))
    assert pool(500).explain(node, ["id"]).pairs == 500 * 500


def test_a_join_by_a_column_makes_no_pairs_to_speak_of() -> None:
    node = Join(Arrange(rows, (1,)), Arrange(rows, (1,)), (("id", 1), ("b", 2)))
    assert pool(500).explain(node, ["id"]).pairs == 0


def test_what_a_dataflow_reads_again_and_again_is_looked_at_once() -> None:
    node: Node = rows
    for _ in range(60):  # 2^60 paths
        node = Union((node, node))
    assert [each.name for each in pool(1).explain(node, ["id"]).foretold] == ["(new)[id]"]
