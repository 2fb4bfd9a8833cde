"""The changes of three tables, as Debezium writes them with REPLICA IDENTITY DEFAULT.

Customers, orders and order items, each of which is set again and again: every change of a key
differs from the one before, and none depends on any other. An item says when it was sent, in
microseconds since the epoch.
"""

from collections.abc import Iterator
from typing import Any

import numpy as np

CUSTOMERS, ORDERS, ITEMS = "customers", "orders", "items"
SEGMENTS = ("consumer", "business", "education", "public", "partner")
STATES = ("new", "paid", "packed", "sent", "returned")

SOURCES: dict[str, dict[str, Any]] = {
    CUSTOMERS: {"id": "int64", "name": "utf8", "segment": "utf8"},
    ORDERS: {"id": "int64", "customer_id": "int64", "status": "utf8"},
    ITEMS: {"id": "int64", "order_id": "int64", "amount": "decimal128(12, 2)", "sent": "int64"},
}

REVENUE = """
    SELECT c.segment, o.status, count(*) AS items, sum(i.amount) AS revenue
    FROM customers c
    JOIN orders o ON o.customer_id = c.id
    JOIN items i ON i.order_id = o.id
    GROUP BY c.segment, o.status
"""
SENT = "SELECT id, sent FROM items"

Change = tuple[str, bytes, bytes, bytes]
"""A topic, a key, and the value before and after the moment at which it was sent."""

# Of twenty changes, how many are of items and of orders; the others are of customers.
_OF_TWENTY = (14, 5)


def declaration(table: str, connection: str) -> dict[str, Any]:
    """The body that declares `table` over the topic of its name."""
    columns = [{"name": n, "type": t, "nullable": False} for n, t in SOURCES[table].items()]
    return {
        "connector": "kafka",
        "connection": connection,
        "topic": table,
        "columns": columns,
        "key": ["id"],
    }


def stock(customers: int, orders: int, items: int) -> Iterator[Change]:
    """Every customer, order and item once."""
    yield from (_customer(n, 0) for n in range(customers))
    yield from (_order(n, 0, customers) for n in range(orders))
    yield from (_item(n, 0, orders) for n in range(items))


def changes(customers: int, orders: int, items: int, seed: int) -> Iterator[Change]:
    """Changes of what `stock` made, without end."""
    random = np.random.default_rng(seed)
    version = 0
    while True:
        version += 1
        kinds = random.integers(0, 20, 100_000).tolist()
        ids = random.random(100_000).tolist()
        for kind, where in zip(kinds, ids, strict=True):
            version += 1
            if kind < _OF_TWENTY[0]:
                yield _item(int(where * items), version, orders)
            elif kind < sum(_OF_TWENTY):
                yield _order(int(where * orders), version, customers)
            else:
                yield _customer(int(where * customers), version)


def _customer(id: int, version: int) -> Change:
    segment = SEGMENTS[(id + version) % len(SEGMENTS)]
    return _change(CUSTOMERS, id, f'"name":"customer {id}","segment":"{segment}"}}')


def _order(id: int, version: int, customers: int) -> Change:
    status = STATES[(id + version) % len(STATES)]
    return _change(ORDERS, id, f'"customer_id":{id % customers},"status":"{status}"}}')


def _item(id: int, version: int, orders: int) -> Change:
    cents = 100 + (id * 7 + version * 13) % 50_000
    amount = f"{cents // 100}.{cents % 100:02d}"
    return _change(ITEMS, id, f'"order_id":{id % orders},"amount":"{amount}","sent":')


def _change(table: str, id: int, rest: str) -> Change:
    before = f'{{"op":"u","before":null,"after":{{"id":{id},{rest}'
    after = f',"source":{{"connector":"postgresql","schema":"public","table":"{table}"}}}}'
    return table, b'{"id":%d}' % id, before.encode(), after.encode()
