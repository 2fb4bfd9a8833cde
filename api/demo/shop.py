"""A shop that lives: customers, products, orders and their items, changing at random."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from api.demo.changes import Change, Recorder

Row = dict[str, Any]
SEGMENTS = ("consumer", "business", "education", "public", "partner")
STATES = ("new", "paid", "packed", "sent", "returned")
CITIES = (None, *(f"city-{i:02d}" for i in range(40)))
CATEGORIES = tuple(f"category-{i:02d}" for i in range(30))
RANDOM_NUMBERS = 1 << 16


class Shop:
    """Makes changes that are right one after the other: only rows that exist change or go."""

    def __init__(self, random: np.random.Generator, recorder: Recorder) -> None:
        self._random = random
        self._record = recorder
        self._numbers: Iterator[float] = iter(())
        self._next_id = {"customers": 0, "products": 0, "orders": 0, "order_items": 0}
        self._rows: dict[str, list[Row]] = {topic: [] for topic in self._next_id}
        self._acts: list[Callable[[], Change]] = []
        weights = (
            (30, lambda: self._insert("orders", self._order())),
            (40, lambda: self._insert("order_items", self._item())),
            (10, lambda: self._update("orders", status=self._one_of(STATES))),
            (7, lambda: self._update("order_items", quantity=1 + self._below(9))),
            (4, lambda: self._delete("order_items")),
            (3, lambda: self._delete("orders")),
            (3, lambda: self._insert("customers", self._customer())),
            (2, lambda: self._update("customers", segment=self._one_of(SEGMENTS))),
            (1, lambda: self._update("products", category=self._one_of(CATEGORIES))),
        )
        for weight, act in weights:
            self._acts += [act] * weight

    def stock(self, customers: int, products: int) -> Iterator[Change]:
        """The customers and products that are there when it opens."""
        for _ in range(customers):
            yield self._insert("customers", self._customer())
        for _ in range(products):
            yield self._insert("products", self._product())
        yield self._insert("orders", self._order())
        yield self._insert("order_items", self._item())

    def changes(self, count: int) -> Iterator[Change]:
        """The next `count` changes."""
        for _ in range(count):
            yield self._one_of(self._acts)()

    def _customer(self) -> Row:
        return {
            "name": f"customer {self._below(1_000_000)}",
            "segment": self._one_of(SEGMENTS),
            "city": self._one_of(CITIES),
        }

    def _product(self) -> Row:
        return {
            "title": f"product {self._below(1_000_000)}",
            "category": self._one_of(CATEGORIES),
        }

    def _order(self) -> Row:
        return {"customer_id": self._one_of(self._rows["customers"])["id"], "status": "new"}

    def _item(self) -> Row:
        cents = 100 + self._below(50_000)
        return {
            "order_id": self._one_of(self._rows["orders"])["id"],
            "product_id": self._one_of(self._rows["products"])["id"],
            "quantity": 1 + self._below(9),
            "price": f"{cents // 100}.{cents % 100:02d}",
        }

    def _insert(self, topic: str, values: Row) -> Change:
        self._next_id[topic] += 1
        row = {"id": self._next_id[topic], **values}
        self._rows[topic].append(row)
        return self._record.insert(topic, row)

    def _update(self, topic: str, **values: Any) -> Change:
        rows = self._rows[topic]
        index = self._below(len(rows))
        before = rows[index]
        rows[index] = {**before, **values}
        return self._record.update(topic, before, rows[index])

    def _delete(self, topic: str) -> Change:
        rows = self._rows[topic]
        if len(rows) < 2:
            return self._update(topic)
        index = self._below(len(rows))
        rows[index], rows[-1] = rows[-1], rows[index]
        return self._record.delete(topic, rows.pop())

    def _below(self, bound: int) -> int:
        for number in self._numbers:
            return int(number * bound)
        self._numbers = iter(self._random.random(RANDOM_NUMBERS).tolist())
        return int(next(self._numbers) * bound)

    def _one_of(self, values: Any) -> Any:
        return values[self._below(len(values))]
