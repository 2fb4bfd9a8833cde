"""The demo's tables, as the service's sources declare them."""

from typing import Any

Columns = tuple[tuple[str, str, bool], ...]

# Name of the table: its columns as (name, type, nullable), and its primary key.
TABLES: dict[str, tuple[Columns, tuple[str, ...]]] = {
    "customers": (
        (
            ("id", "int64", False),
            ("name", "utf8", False),
            ("segment", "utf8", False),
            ("city", "utf8", True),
        ),
        ("id",),
    ),
    "products": (
        (("id", "int64", False), ("name", "utf8", False), ("category", "utf8", False)),
        ("id",),
    ),
    "orders": (
        (
            ("id", "int64", False),
            ("customer_id", "int64", False),
            ("status", "utf8", False),
            ("placed", "date32", False),
        ),
        ("id",),
    ),
    "order_items": (
        (
            ("id", "int64", False),
            ("order_id", "int64", False),
            ("product_id", "int64", False),
            ("quantity", "int32", False),
            ("amount", "decimal128(12, 2)", False),
        ),
        ("id",),
    ),
    "follows": (
        (("follower", "int64", False), ("followed", "int64", False)),
        ("follower", "followed"),
    ),
}


def source(table: str) -> dict[str, Any]:
    """The body of `PUT /v1/sources/{table}`."""
    columns, key = TABLES[table]
    return {
        "topic": table,
        "columns": [{"name": n, "type": t, "nullable": nullable} for n, t, nullable in columns],
        "key": list(key),
    }
