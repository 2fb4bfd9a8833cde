"""Changes of three tables as Debezium writes them, and the tables as of any offsets.

Keys are drawn from a Zipf distribution, so that some rows change again and again. All changes of a
key stand in one partition.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import orjson

from tests.kafka.client import Record

PARTITIONS = 4
TOPICS = ("customers", "orders", "items")
SEGMENTS = ("consumer", "business", "public")
STATES = ("new", "paid", "sent")

Row = dict[str, Any]
Tables = dict[str, dict[int, Row]]


class Shop:
    """`log` has, by partition, the key and the row that each record sets, None if it deletes."""

    def __init__(self, seed: int, keys: int) -> None:
        self._random = np.random.default_rng(seed)
        self._keys = keys
        self.log: dict[tuple[str, int], list[tuple[int, Row | None]]] = {
            (topic, partition): [] for topic in TOPICS for partition in range(PARTITIONS)
        }

    def next(self) -> tuple[str, Record]:
        """One more change: its topic, and its record."""
        topic = TOPICS[int(self._random.choice(3, p=(0.1, 0.3, 0.6)))]
        key = int(self._random.zipf(1.3)) % self._keys
        row = None if self._random.random() < 0.15 else self._row(topic, key)
        partition = key % PARTITIONS
        self.log[topic, partition].append((key, row))
        return topic, Record(_value(key, row), orjson.dumps({"id": key}), partition)

    def _row(self, topic: str, key: int) -> Row:
        number = int(self._random.integers(1_000))
        other = int(self._random.zipf(1.3)) % self._keys
        if topic == "customers":
            return {"id": key, "segment": SEGMENTS[number % 3]}
        if topic == "orders":
            return {"id": key, "customer_id": other, "status": STATES[number % 3]}
        return {"id": key, "order_id": other, "amount": number}

    def ends(self) -> dict[str, dict[int, int]]:
        """How many records each partition has been given."""
        found: dict[str, dict[int, int]] = {}
        for (topic, partition), changes in self.log.items():
            found.setdefault(topic, {})[partition] = len(changes)
        return found


class Past:
    """The tables of a shop as of offsets that only grow."""

    def __init__(self, shop: Shop) -> None:
        self.tables: Tables = {topic: {} for topic in TOPICS}
        self._log = shop.log
        self._reached = dict.fromkeys(shop.log, 0)

    def advance(self, offsets: Mapping[str, Mapping[str, int]]) -> Tables:
        """The tables as of `offsets`, which are by topic and partition."""
        for topic, ends in offsets.items():
            for partition, end in ends.items():
                place = topic, int(partition)
                assert end >= self._reached[place], f"{place} went back to {end}"
                for key, row in self._log[place][self._reached[place] : end]:
                    if row is None:
                        self.tables[topic].pop(key, None)
                    else:
                        self.tables[topic][key] = row
                self._reached[place] = end
        return self.tables


def _value(key: int, row: Row | None) -> bytes:
    if row is None:
        return orjson.dumps({"op": "d", "before": {"id": key}, "after": None})
    return orjson.dumps({"op": "u", "before": None, "after": row})
