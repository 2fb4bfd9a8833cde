"""The catalog's names, order and stored form."""

import json

import pyarrow as pa
import pytest

from views.catalog import Catalog, Table, View
from views.errors import BadDefinition, NameTaken, StillUsed, UnknownName

FIELDS: list[pa.Field] = [
    pa.field("id", pa.int64(), nullable=False),
    pa.field("at", pa.timestamp("us", "UTC")),
    pa.field("price", pa.decimal128(12, 2)),
]
SCHEMA = pa.schema(FIELDS)
ORDERS = Table("orders", SCHEMA, ("id",))
BIG = View(
    "big",
    "select * from orders where price > 9",
    "sql",
    SCHEMA,
    ("id",),
    ("orders",),
    is_unique=True,
)


def test_a_catalog_survives_json() -> None:
    catalog = Catalog([ORDERS], [BIG])
    restored = Catalog.from_json(json.loads(json.dumps(catalog.to_json())))
    assert restored.tables == (ORDERS,)
    assert restored.views == (BIG,)


def test_an_unknown_name_is_answered_with_near_ones() -> None:
    with pytest.raises(UnknownName, match="'orders'"):
        Catalog([ORDERS])["order"]


def test_a_name_is_taken_once_by_tables_and_views_together() -> None:
    catalog = Catalog([ORDERS])
    with pytest.raises(NameTaken):
        catalog.add_view(View("orders", "", "sql", SCHEMA, ("id",), ()))


def test_what_a_view_reads_cannot_be_dropped() -> None:
    catalog = Catalog([ORDERS], [BIG])
    with pytest.raises(StillUsed, match="big"):
        catalog.drop("orders")
    catalog.drop("big")
    assert catalog.drop("orders") == ORDERS
    assert list(catalog) == []


def test_a_view_needs_what_it_reads() -> None:
    with pytest.raises(UnknownName):
        Catalog().add_view(BIG)


@pytest.mark.parametrize(
    "table",
    [
        Table("", SCHEMA, ("id",)),
        Table("t", SCHEMA, ("nope",)),
        Table("t", pa.schema([pa.field("a", pa.struct([("a", pa.int8())]))]), ("a",)),
        Table("t", pa.schema([pa.field("a", pa.int8()), pa.field("a", pa.int8())]), ("a",)),
    ],
)
def test_a_table_that_cannot_be_is_refused(table: Table) -> None:
    with pytest.raises(BadDefinition):
        Catalog([table])


def test_a_document_that_is_no_catalog_is_refused() -> None:
    with pytest.raises(BadDefinition, match="not a stored catalog"):
        Catalog.from_json({"tables": [{"name": "t"}], "views": []})


def test_a_catalog_has_another_version_after_each_change() -> None:
    catalog = Catalog([ORDERS], [BIG])
    versions = [catalog.version]
    for change in (
        lambda: catalog.alter(ORDERS),
        lambda: catalog.redefine([BIG]),
        lambda: catalog.rename_view("big", "large"),
        lambda: catalog.drop("large"),
        lambda: catalog.add_view(BIG),
    ):
        change()
        versions.append(catalog.version)
    assert len(set(versions)) == len(versions)
