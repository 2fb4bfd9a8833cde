"""What a compiled view says of itself, and which arrangements it reads."""

import pyarrow as pa
import pytest

from ivm.dataflow.nodes import DeltaJoin, Get, Join, Node
from tests.property.shop import CATALOG
from views.catalog import Catalog, View
from views.compile import CompiledView, compile_view
from views.errors import DuplicateColumn, UnknownColumn

KEYS = [
    ("select id, name from customers", ("id",)),
    ("select name from customers", ("name",)),
    ("select segment, city, count(*) as n from customers group by segment, city", None),
    ("select distinct segment, city from customers", ("segment", "city")),
    ("select segment as s, count(*) as n from customers group by segment", ("s",)),
    ("select count(*) as n, max(id) as m from customers", ("n", "m")),
    ("select o.id, c.name from orders o join customers c on c.id = o.customer_id", ("id",)),
    ("select o.id, i.line from orders o join items i on i.order_id = o.id", ("id", "line")),
    ("select c.id, o.id as o from customers c left join orders o on o.total > 1", ("id", "o")),
    ("select id from customers c where exists (select 1 from orders o where o.id = c.id)", ("id",)),
    ("select id from customers union all select id from orders", ("id",)),
    ("with recursive r(a, b) as (select src, dst from follows union select a, 1 from r) "
     "select a, b from r", ("a", "b")),
]  # fmt: skip


@pytest.mark.parametrize(("query", "key"), KEYS)
def test_a_view_is_keyed_by_what_is_unique_in_it(query: str, key: tuple[str, ...] | None) -> None:
    assert compile_view(query, CATALOG).key == (key or ("segment", "city"))


def test_a_given_key_is_taken() -> None:
    assert compile_view("select id, city from customers", CATALOG, ["city"]).key == ("city",)


def test_a_key_must_be_in_the_result() -> None:
    with pytest.raises(UnknownColumn, match="'city'"):
        compile_view("select id, city from customers", CATALOG, ["cty"])


@pytest.mark.parametrize("key", [[], ["id", "id"]])
def test_a_key_names_columns_once(key: list[str]) -> None:
    with pytest.raises(DuplicateColumn):
        compile_view("select id from customers", CATALOG, key)


def test_dependencies_are_what_is_read_directly() -> None:
    query = "with c as (select id from customers) select c.id from c join orders o using (id)"
    assert compile_view(query, CATALOG).dependencies == ("customers", "orders")


def test_a_view_reads_another_view() -> None:
    fields: list[pa.Field] = [
        pa.field("City", pa.string()),
        pa.field("n", pa.int64(), nullable=False),
    ]
    by_city = View("by_city", "", "sql", pa.schema(fields), ("City",), ("customers",))
    catalog = Catalog(CATALOG.tables, [by_city])
    view = compile_view('select "City" as city, n + 1 as n from by_city', catalog)
    assert view.dependencies == ("by_city",)
    assert view.schema == pa.schema([fields[0].with_name("city"), fields[1]])


@pytest.mark.parametrize("is_unique", [True, False])
def test_a_key_of_a_view_is_one_of_views_over_it(is_unique: bool) -> None:
    fields: list[pa.Field] = [pa.field("city", pa.string()), pa.field("n", pa.int64())]
    schema = pa.schema(fields)
    by_city = View("by_city", "", "sql", schema, ("city",), ("customers",), is_unique=is_unique)
    catalog = Catalog(CATALOG.tables, [by_city])
    view = compile_view("select n, city from by_city where n > 1", catalog)
    assert view.is_unique == is_unique
    assert view.key == (("city",) if is_unique else ("n", "city"))


def test_unquoted_names_are_lower_case() -> None:
    assert compile_view("SELECT ID AS Total FROM Customers", CATALOG).schema.names == ["total"]


def arrangements(node: Node) -> set[Node]:
    """The arrangements that a join of two inputs reads."""
    while not isinstance(node, Join | DeltaJoin):
        assert not isinstance(node, Get)
        node = node.input  # type: ignore[attr-defined]
    arranged = node.inputs if isinstance(node, DeltaJoin) else (node.left, node.right)
    return {arrange.input for arrange in arranged}


JOINED = "select c.name from customers c join orders o on o.customer_id = c.id where o.total > 5"


def test_a_filtered_table_is_arranged_for_itself() -> None:
    inputs = arrangements(compile_view(JOINED, CATALOG).node)
    assert not any(isinstance(i, Get) and i.name == "orders" for i in inputs)


def test_a_filter_waits_where_the_whole_table_is_arranged_already() -> None:
    node = compile_view(JOINED, CATALOG, arranged=["orders[customer_id]"]).node
    assert {i.name for i in arrangements(node) if isinstance(i, Get)} == {"customers", "orders"}
    assert "Filter" in repr(node)


def test_a_join_of_tables_by_columns_reads_their_own_arrangements() -> None:
    query = "select c.name, o.total from customers c join orders o on o.customer_id = c.id"
    inputs = arrangements(compile_view(query, CATALOG).node)
    assert all(isinstance(i, Get) for i in inputs)


@pytest.mark.parametrize("frames", [0, 700])
def test_a_short_query_compiles_however_little_of_the_stack_is_left(frames: int) -> None:
    def below(left: int) -> CompiledView:
        if left:
            return below(left - 1)
        return compile_view(f"SELECT {'(' * 150}id{')' * 150} AS x FROM orders", CATALOG)

    assert below(frames).schema.names == ["x"]
