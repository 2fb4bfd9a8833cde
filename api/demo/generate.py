"""A shop and a follower graph as change data: inserts, updates and deletes, by a fixed seed.

Changes come in the order in which they happen, so that any prefix is a state of the shop. Each
row's changes are Debezium envelopes with its full `before` and `after`.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import orjson

SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
CATEGORIES = tuple(
    f"{kind} for the {room}"
    for kind in ("furniture", "lamps", "textiles", "tools")
    for room in ("bedroom", "kitchen", "office", "garden", "workshop")
)
CITIES = ("Amsterdam", "Berlin", "Lisbon", "Lyon", "Porto", "Turin", "Utrecht", "Vienna", None)
STATUSES = ("open", "paid", "shipped", "returned")
FIRST_DAY = 20_000  # days since 1970: 2024-10-04

# Of the changes, those to each table, and how many of them are updates and deletes.
SHARES = {"customers": 0.05, "products": 0.01, "orders": 0.19, "order_items": 0.45, "follows": 0.30}
UPDATES, DELETES = 0.15, 0.08

Row = dict[str, Any]


@dataclass(slots=True)
class Table:
    """One table's present rows, and how many were ever inserted."""

    name: str
    rows: list[Row] = field(default_factory=list)
    inserted: int = 0


@dataclass(frozen=True, slots=True)
class Change:
    """One envelope of `table`, to be finished with its time."""

    table: str
    op: str
    before: Row | None
    after: Row | None

    def line(self, ts_ms: int) -> bytes:
        """The record, as of `ts_ms` (milliseconds since 1970)."""
        return orjson.dumps(
            {
                "before": self.before,
                "after": self.after,
                "source": {"connector": "demo", "table": self.table, "ts_ms": ts_ms},
                "op": self.op,
                "ts_ms": ts_ms,
            }
        )


class Shop:
    """Draws changes; `changes` may be asked for again and goes on from the present state."""

    def __init__(self, seed: int = 42) -> None:
        self._random = np.random.default_rng(seed)
        self._tables = {name: Table(name) for name in SHARES}
        self._edges: set[tuple[int, int]] = set()
        self._draws = iter(())  # type: Iterator[float]

    def changes(self, count: int) -> Iterator[Change]:
        """The next `count` changes."""
        names = list(SHARES)
        tables = self._random.choice(len(names), count, p=list(SHARES.values()))
        kinds = self._random.random(count)
        for table, kind in zip(tables.tolist(), kinds.tolist(), strict=True):
            yield self._change(self._tables[names[table]], kind)

    def _uniform(self) -> float:
        draw = next(self._draws, None)
        if draw is None:
            self._draws = iter(self._random.random(1 << 16).tolist())
            draw = next(self._draws)
        return draw

    def _below(self, bound: int) -> int:
        return int(self._uniform() * bound)

    def _change(self, table: Table, kind: float) -> Change:
        if len(table.rows) > 20 and kind < DELETES:
            return self._delete(table)
        if len(table.rows) > 20 and kind < DELETES + UPDATES and table.name != "follows":
            place = self._below(len(table.rows))
            before = table.rows[place]
            after = table.rows[place] = before | self._new_values(table.name)
            return Change(table.name, "u", before, after)
        row = self._new_row(table)
        table.rows.append(row)
        table.inserted += 1
        return Change(table.name, "c", None, row)

    def _delete(self, table: Table) -> Change:
        place = self._below(len(table.rows))
        row = table.rows[place]
        table.rows[place] = table.rows[-1]
        table.rows.pop()
        if table.name == "follows":
            self._edges.discard((row["follower"], row["followed"]))
        return Change(table.name, "d", row, None)

    def _new_row(self, table: Table) -> Row:
        if table.name == "follows":
            return self._new_edge()
        number = table.inserted
        fixed: Row = {"id": number}
        if table.name == "customers":
            fixed["name"] = f"Customer#{number:09d}"
        elif table.name == "products":
            fixed["name"] = f"Product {number}"
        elif table.name == "orders":
            fixed["customer_id"] = self._known("customers")
            fixed["placed"] = FIRST_DAY + number // 500
        else:
            fixed["order_id"] = self._known("orders")
            fixed["product_id"] = self._known("products")
        return fixed | self._new_values(table.name)

    def _known(self, table: str) -> int:
        """A number that the table has given out, early ones more often; some are deleted by now."""
        return int(self._uniform() ** 1.5 * max(self._tables[table].inserted, 1))

    def _new_values(self, table: str) -> Row:
        """What an update changes."""
        if table == "customers":
            return {
                "segment": SEGMENTS[self._below(len(SEGMENTS))],
                "city": CITIES[self._below(len(CITIES))],
            }
        if table == "products":
            return {"category": CATEGORIES[self._below(len(CATEGORIES))]}
        if table == "orders":
            return {"status": STATUSES[self._below(len(STATUSES))]}
        cents = 100 + self._below(50_000)
        return {"quantity": 1 + self._below(9), "amount": f"{cents // 100}.{cents % 100:02d}"}

    def _new_edge(self) -> Row:
        people = 50 + self._tables["follows"].inserted // 4
        while True:
            edge = self._below(people), int(self._uniform() ** 2 * people)
            if edge not in self._edges:
                self._edges.add(edge)
                return {"follower": edge[0], "followed": edge[1]}
