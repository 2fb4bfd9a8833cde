"""The views under load: each in SQL, and as a function from the tables to its rows."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tests.faults.load.shop import Row, Tables

Value = int | str | None
Rows = Counter[tuple[Value, ...]]


@dataclass(frozen=True, slots=True)
class View:
    """`rows` computes from scratch what `query` says; columns are in the same order."""

    query: str
    rows: Callable[[Tables], Rows]


def _paid(tables: Tables) -> Rows:
    orders = tables["orders"].values()
    return Counter((o["id"], o["customer_id"]) for o in orders if o["status"] == "paid")


def _sold(tables: Tables) -> Iterator[tuple[Row, str]]:
    """Each item whose order and customer are there, with the customer's segment."""
    for item in tables["items"].values():
        order = tables["orders"].get(item["order_id"])
        customer = tables["customers"].get(order["customer_id"]) if order else None
        if customer is not None:
            yield item, customer["segment"]


def _joined(tables: Tables) -> Rows:
    return Counter((item["id"], segment, item["amount"]) for item, segment in _sold(tables))


def _by_segment(tables: Tables) -> Rows:
    items: Counter[str] = Counter()
    amounts: Counter[str] = Counter()
    for item, segment in _sold(tables):
        items[segment] += 1
        amounts[segment] += item["amount"]
    return Counter((segment, items[segment], amounts[segment]) for segment in items)


def _buyers(tables: Tables) -> Rows:
    return Counter({(o["customer_id"],): 1 for o in tables["orders"].values()})


def _dearest(tables: Tables) -> Rows:
    ranked = sorted(tables["items"].values(), key=lambda i: (-i["amount"], i["id"]))
    return Counter((item["id"], item["amount"]) for item in ranked[:10])


_SOLD = "items i JOIN orders o ON i.order_id = o.id JOIN customers c ON o.customer_id = c.id"
VIEWS = {
    "paid": View("SELECT id, customer_id FROM orders WHERE status = 'paid'", _paid),
    "sold": View(f"SELECT i.id, c.segment, i.amount FROM {_SOLD}", _joined),
    "by_segment": View(
        f"SELECT c.segment, count(*) AS items, sum(i.amount) AS amount FROM {_SOLD} "
        "GROUP BY c.segment",
        _by_segment,
    ),
    "buyers": View("SELECT DISTINCT customer_id FROM orders", _buyers),
    "dearest": View("SELECT id, amount FROM items ORDER BY amount DESC, id LIMIT 10", _dearest),
}
