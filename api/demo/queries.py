"""The demo's tables and views, and the same views in DuckDB's SQL, written by hand."""

from dataclasses import dataclass
from typing import Any

SEEDS = (1, 2, 3)


@dataclass(frozen=True, slots=True)
class DemoView:
    """A view, and the query by which DuckDB recomputes it; both have the same columns in order."""

    name: str
    query: str
    judge: str


def _source(key: str, /, **columns: str) -> dict[str, Any]:
    """A source's declaration; a column whose type ends in `?` takes NULLs."""
    return {
        "columns": [
            {"name": name, "type": type_.rstrip("?"), "nullable": type_.endswith("?")}
            for name, type_ in columns.items()
        ],
        "key": key.split(),
        "replica_identity": "full",
    }


SOURCES: dict[str, dict[str, Any]] = {
    "customers": _source("id", id="int64", name="utf8", segment="utf8", city="utf8?"),
    "products": _source("id", id="int64", title="utf8", category="utf8"),
    "orders": _source("id", id="int64", customer_id="int64", status="utf8"),
    "order_items": _source(
        "id",
        id="int64",
        order_id="int64",
        product_id="int64",
        quantity="int32",
        price="decimal128(12, 2)",
    ),
    "follows": _source("follower followee", follower="int64", followee="int64"),
}

REVENUE = DemoView(
    "revenue_by_segment",
    """
    SELECT c.segment, count(*) AS items, sum(i.quantity * i.price) AS revenue
    FROM customers c
    JOIN orders o ON o.customer_id = c.id
    JOIN order_items i ON i.order_id = o.id
    GROUP BY c.segment
    """,
    """
    SELECT segment, count(*), sum(quantity * price)
    FROM order_items, orders, customers
    WHERE order_items.order_id = orders.id AND orders.customer_id = customers.id
    GROUP BY segment
    """,
)
TOP_PRODUCTS = DemoView(
    "top_products",
    """
    SELECT category, product_id, revenue FROM (
        SELECT category, product_id, revenue,
            row_number() OVER (PARTITION BY category ORDER BY revenue DESC, product_id) AS place
        FROM (
            SELECT p.category, p.id AS product_id, sum(i.quantity * i.price) AS revenue
            FROM products p JOIN order_items i ON i.product_id = p.id
            GROUP BY p.category, p.id
        ) AS revenues
    ) AS ranked
    WHERE place <= 10
    """,
    """
    WITH revenues AS (
        SELECT product_id, sum(quantity * price) AS revenue FROM order_items GROUP BY product_id
    )
    SELECT category, product_id, revenue FROM revenues JOIN products ON id = product_id
    QUALIFY row_number() OVER (PARTITION BY category ORDER BY revenue DESC, product_id) <= 10
    """,
)
WITHOUT_ORDERS = DemoView(
    "customers_without_orders",
    """
    SELECT c.id, c.name FROM customers c
    WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
    """,
    "SELECT id, name FROM customers WHERE id NOT IN (SELECT customer_id FROM orders)",
)
REACHABLE = DemoView(
    "reachable",
    f"""
    WITH RECURSIVE reached(account) AS (
        SELECT CAST(seed.account AS bigint)
        FROM (VALUES {", ".join(f"({seed})" for seed in SEEDS)}) AS seed(account)
        UNION
        SELECT f.followee FROM reached r JOIN follows f ON f.follower = r.account
    )
    SELECT account FROM reached
    """,
    f"""
    WITH RECURSIVE reached AS (
        SELECT unnest({list(SEEDS)})::BIGINT AS account
        UNION
        SELECT followee FROM follows, reached WHERE follower = account
    )
    SELECT account FROM reached
    """,
)
ORDERS_BY_CITY = DemoView(
    "orders_by_city",
    """
    SELECT c.city, count(*) AS orders
    FROM customers c JOIN orders o ON o.customer_id = c.id
    GROUP BY c.city
    """,
    """
    SELECT city, count(*) FROM orders JOIN customers ON customers.id = customer_id GROUP BY city
    """,
)
FIRST_FOUR = (REVENUE, TOP_PRODUCTS, WITHOUT_ORDERS, REACHABLE)
FIFTH = ORDERS_BY_CITY
