"""The events of Nexmark as its own generator deals them, and the messages that say them.

Of 50 events one is a person, three are auctions and 46 are bids, 10,000 a second. Half of the bids
are for one auction in a hundred, three of four auctions are of one seller in a hundred. Ids, people
who are active and auctions that are open are those of the generator's defaults.

Each partition begins with opening records, an auction, its seller and a bid for it, and ends with
closing ones like them, a minute later than all others, and an hour apart in each partition. The
first let a system get ready. The last move watermarks past all windows of the others; and where a
result has theirs, it has all of their partitions.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pyarrow as pa

from benchmarks.nexmark.data import AUCTION, BID, CHANNELS, CITIES, PERSON, STATES
from views.catalog import Table

PARTITIONS = 2
TABLES: Mapping[str, Table] = {table.name: table for table in (PERSON, AUCTION, BID)}

_SEED = 20_240_131
_BEGIN = int(datetime(2024, 1, 31, 5, tzinfo=UTC).timestamp() * 1_000)  # ms
_PER_MS = 10
_OF_50 = {"person": 1, "auction": 3, "bid": 46}
_FIRST_ID = 1_000
_FIRST_CATEGORY, _CATEGORIES = 10, 5
_HOT = 100  # one auction, seller and bidder in so many
_OPEN_AUCTIONS, _ACTIVE_PEOPLE = 100, 1_000
_LEAD = 10  # ids that bids and auctions may be ahead of those that there are
_MINUTE, _HOUR = 60_000, 3_600_000  # ms

Columns = dict[str, list[Any]]


@dataclass(frozen=True, slots=True)
class Events:
    """The rows of each table by columns: of opening records, all others, of closing ones.

    Times are in ms since the epoch.
    """

    columns: Mapping[str, Columns]
    closing: int  # of the first closing records

    def count(self, table: str) -> int:
        """The rows of a table."""
        return len(self.columns[table]["date_time"])

    def opening(self) -> "Events":
        """The opening records alone."""
        first = {
            table: {name: values[:PARTITIONS] for name, values in columns.items()}
            for table, columns in self.columns.items()
        }
        return Events(first, self.closing)

    def batch(self, table: str) -> pa.Table:
        """The rows of a table, as `benchmarks.nexmark` has its columns."""
        schema = TABLES[table].schema
        given = [pa.array(values) for values in self.columns[table].values()]
        stamps = pa.timestamp("ms")
        arrays = [
            values.cast(stamps).cast(field.type) if pa.types.is_timestamp(field.type) else values
            for values, field in zip(given, schema, strict=True)
        ]
        return pa.Table.from_arrays(arrays, schema=schema)

    def messages(self, table: str) -> Iterator[tuple[int, bytes]]:
        """The partition and the JSON of each row of a table, in their order."""
        columns = self.columns[table]
        texts = {name for name, values in columns.items() if isinstance(values[0], str)}
        members = (f'"{n}":"%s"' if n in texts else f'"{n}":%d' for n in columns)
        form = f"{{{','.join(members)}}}"
        for number, row in enumerate(zip(*columns.values(), strict=True)):
            yield number % PARTITIONS, (form % row).encode()


def events(count: int) -> Events:
    """The first `count` events, a multiple of 100, the same each time."""
    assert count % 100 == 0, "each partition has as many records of a table"
    random = np.random.default_rng(_SEED)
    closing = _BEGIN + count // _PER_MS + _MINUTE
    opening = _BEGIN - _MINUTE - PARTITIONS * _HOUR
    tables = {
        "person": _people(count),
        "auction": _auctions(count, random),
        "bid": _bids(count, random),
    }
    for table, columns in tables.items():
        first, last = _edges(columns, -1 - PARTITIONS, opening), _edges(columns, -1, closing)
        tables[table] = {name: first[name] + columns[name] + last[name] for name in columns}
    return Events(tables, closing)


def _edges(columns: Columns, first_id: int, begins: int) -> Columns:
    """Rows of a table for each partition, whose ids go down from `first_id`."""
    found: Columns = {name: [] for name in columns}
    for partition in range(PARTITIONS):
        at = begins + partition * _HOUR
        for name, values in found.items():
            if name in _IDS:
                values.append(first_id - partition)
            elif name in _TEXTS:
                values.append("edge")
            else:
                values.append({"date_time": at, "expires": at + _MINUTE}.get(name, 1))
    return found


_IDS = {"id", "seller", "category", "auction", "bidder"}
_TEXTS = {
    *("name", "email", "city", "state"),
    *("item_name", "description", "channel", "url", "extra"),
}


def _numbers(table: str, count: int) -> np.ndarray:
    """Which of all events are of a table: people first, then auctions, then bids."""
    before = {"person": 0, "auction": 1, "bid": 4}[table]
    rows = np.arange(count // 50 * _OF_50[table])
    return rows // _OF_50[table] * 50 + before + rows % _OF_50[table]


def _times(numbers: np.ndarray) -> np.ndarray:
    return _BEGIN + numbers // _PER_MS


def _people(count: int) -> Columns:
    numbers = _numbers("person", count)
    rows = range(len(numbers))
    places = [i * 7 % len(STATES) for i in rows]
    return {
        "id": [_FIRST_ID + i for i in rows],
        "name": [f"person {i}" for i in rows],
        "email": [f"{i}@example.org" for i in rows],
        "city": [CITIES[place] for place in places],
        "state": [STATES[place] for place in places],
        "date_time": _times(numbers).tolist(),
    }


def _auctions(count: int, random: np.random.Generator) -> Columns:
    numbers = _numbers("auction", count)
    times, size = _times(numbers), len(numbers)
    lasting = 2 * _OPEN_AUCTIONS * 50 // (_OF_50["auction"] * _PER_MS)  # ms, at most
    first, reserve = _prices(random, size), _prices(random, size)
    return {
        "id": [_FIRST_ID + i for i in range(size)],
        "item_name": [f"item {i}" for i in range(size)],
        "description": [f"what item {i} is, and how it came to be sold here" for i in range(size)],
        "initial_bid": first.tolist(),
        "reserve": (first + reserve).tolist(),
        "date_time": times.tolist(),
        "expires": (times + 1 + random.integers(0, lasting, size)).tolist(),
        "seller": _someone(random, numbers // 50, 0).tolist(),
        "category": (_FIRST_CATEGORY + random.integers(0, _CATEGORIES, size)).tolist(),
    }


def _bids(count: int, random: np.random.Generator) -> Columns:
    numbers = _numbers("bid", count)
    size = len(numbers)
    last = 3 * (numbers // 50) + 2
    least = np.maximum(last - _OPEN_AUCTIONS, 0)
    any_ = least + random.integers(0, last - least + 1 + _LEAD)
    hot = random.integers(0, 2, size) > 0
    urls = [f"https://auction.example/d{i % 9}/d{i % 7}/item.htm?query={i}" for i in range(1_000)]
    extras = ["".join(each) for each in random.choice([*"abcdefgh"], (1_000, 12))]
    return {
        "id": list(range(size)),
        "auction": (_FIRST_ID + np.where(hot, last // _HOT * _HOT, any_)).tolist(),
        "bidder": _someone(random, numbers // 50, 1).tolist(),
        "price": _prices(random, size).tolist(),
        "channel": [CHANNELS[i] for i in random.integers(0, len(CHANNELS), size).tolist()],
        "url": [urls[i] for i in random.integers(0, len(urls), size).tolist()],
        "date_time": _times(numbers).tolist(),
        "extra": [extras[i] for i in random.integers(0, len(extras), size).tolist()],
    }


def _someone(random: np.random.Generator, last: np.ndarray, beside: int) -> np.ndarray:
    """Who sells or bids: three times of four one in a hundred, else anyone who is active."""
    active = np.minimum(last, _ACTIVE_PEOPLE)
    any_ = last - active + random.integers(0, active + 1 + _LEAD)
    hot = random.integers(0, 4, len(last)) > 0
    return _FIRST_ID + np.where(hot, last // _HOT * _HOT + beside, any_)


def _prices(random: np.random.Generator, size: int) -> np.ndarray:
    return np.round(10 ** random.uniform(0, 6, size) * 100).astype(np.int64)
