"""The demo's views: what is asked of the service, and the same for DuckDB.

The dialects agree on all but names of types, so each view is one text.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DemoView:
    """One view; `title` is for the report."""

    name: str
    title: str
    query: str
    key: tuple[str, ...]


VIEWS = (
    DemoView(
        "revenue_by_segment",
        "three-way join, aggregates",
        """
        SELECT c.segment, count(*) AS items, sum(i.amount) AS revenue
        FROM customers c
        JOIN orders o ON o.customer_id = c.id
        JOIN order_items i ON i.order_id = o.id
        GROUP BY c.segment
        """,
        ("segment",),
    ),
    DemoView(
        "top_products",
        "top 10 per category",
        """
        SELECT category, product_id, name, revenue
        FROM (
            SELECT p.category, p.id AS product_id, p.name, s.revenue,
                   row_number() OVER (
                       PARTITION BY p.category ORDER BY s.revenue DESC, p.id
                   ) AS place
            FROM products p
            JOIN (
                SELECT product_id, sum(amount) AS revenue FROM order_items GROUP BY product_id
            ) s ON s.product_id = p.id
        ) ranked
        WHERE place <= 10
        """,
        ("category", "product_id"),
    ),
    DemoView(
        "customers_without_orders",
        "anti join",
        """
        SELECT c.id, c.name, c.city
        FROM customers c
        WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer_id = c.id)
        """,
        ("id",),
    ),
    DemoView(
        "reachable",
        "recursive, from three accounts",
        """
        WITH RECURSIVE reachable(account) AS (
            SELECT followed FROM follows WHERE follower IN (1, 2, 3)
            UNION
            SELECT f.followed FROM reachable r JOIN follows f ON f.follower = r.account
        )
        SELECT account FROM reachable
        """,
        ("account",),
    ),
)

FIFTH = DemoView(
    "orders_by_segment",
    "added while data flows",
    """
    SELECT c.segment, count(*) AS orders
    FROM orders o JOIN customers c ON c.id = o.customer_id
    GROUP BY c.segment
    """,
    ("segment",),
)
