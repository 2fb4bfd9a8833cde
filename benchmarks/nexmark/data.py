"""The tables of Nexmark, drawn from a fixed seed, and its queries as text of ours.

Of 50 events one is a person, three are auctions and the rest are bids, `GAP` apart. A bid has a
number of its own besides the benchmark's columns, since a table has a key. Windows of time are
groups by their first second: hopping ones join a bid with each window it is in, and sessions are
told apart by the gaps between bids.

Two of the 23 queries are no views: q10 writes files by the day of a bid, which is a sink's work,
and q12 counts by the time at which a bid is processed, which no input tells.
"""

from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa

from views.catalog import Table

QUERIES = {
    path.stem: path.read_text() for path in sorted((Path(__file__).parent / "queries").iterdir())
}

SEED = 20_240_131
BEGIN = datetime(2024, 1, 31, 5)
GAP = timedelta(milliseconds=500)
FIRST = 1000  # the first number of a person and of an auction
STATES = ("AZ", "CA", "ID", "OR", "WA", "WY")
CITIES = ("Phoenix", "Los Angeles", "Boise", "Portland", "Seattle", "Cheyenne")
CHANNELS = ("Google", "Facebook", "Baidu", "Apple", "channel-1", "channel-2")

_ID, _TEXT, _MOMENT = pa.int64(), pa.string(), pa.timestamp("us")


def _table(name: str, key: str, /, **columns: pa.DataType) -> Table:
    fields = [pa.field(c, t, nullable=False) for c, t in columns.items()]
    return Table(name, pa.schema(fields), (key,))


PERSON = _table(
    "person", "id", id=_ID, name=_TEXT, email=_TEXT, city=_TEXT, state=_TEXT, date_time=_MOMENT
)
AUCTION = _table(
    "auction",
    "id",
    id=_ID,
    item_name=_TEXT,
    description=_TEXT,
    initial_bid=_ID,
    reserve=_ID,
    date_time=_MOMENT,
    expires=_MOMENT,
    seller=_ID,
    category=_ID,
)
BID = _table(
    "bid",
    "id",
    id=_ID,
    auction=_ID,
    bidder=_ID,
    price=_ID,
    channel=_TEXT,
    url=_TEXT,
    date_time=_MOMENT,
    extra=_TEXT,
)
SIDE_INPUT = _table("side_input", "key", key=_ID, value=_TEXT)


def tables(events: int) -> list[tuple[Table, pa.RecordBatch]]:
    """The tables with the rows of so many events, the same each time."""
    return [
        (PERSON, _people(events)),
        (AUCTION, _auctions(events)),
        (BID, _bids(events)),
        (SIDE_INPUT, _batch(SIDE_INPUT, [[i, f"value {i}"] for i in range(40)])),
    ]


def _batch(table: Table, rows: list[list[object]]) -> pa.RecordBatch:
    columns = [
        pa.array(c, f.type) for c, f in zip(zip(*rows, strict=True), table.schema, strict=True)
    ]
    return pa.RecordBatch.from_arrays(columns, schema=table.schema)


def _moment(event: int) -> datetime:
    return BEGIN + event * GAP


def _people(events: int) -> pa.RecordBatch:
    rows: list[list[object]] = []
    for i, event in enumerate(range(0, events, 50)):
        place = i * 7 % len(STATES)
        name = f"person {i}"
        where = CITIES[place], STATES[place]
        rows.append([FIRST + i, name, f"{i}@example.org", *where, _moment(event)])
    return _batch(PERSON, rows)


def _auctions(events: int) -> pa.RecordBatch:
    random = np.random.default_rng(SEED)
    rows: list[list[object]] = []
    for event in range(events):
        if 1 <= event % 50 <= 3:
            first, reserve = random.integers(1, 1000, 2).tolist()
            ends = _moment(event) + timedelta(seconds=int(random.integers(10, 120)))
            seller = FIRST + int(random.integers(max(event // 50 - 10, 0), event // 50 + 1))
            category = int(random.integers(10, 15))
            number = FIRST + len(rows)
            texts = f"item {number}", f"what item {number} is"
            times = _moment(event), ends
            rows.append([number, *texts, first, first + reserve, *times, seller, category])
    return _batch(AUCTION, rows)


def _bids(events: int) -> pa.RecordBatch:
    random = np.random.default_rng(SEED + 1)
    rows: list[list[object]] = []
    for event in range(events):
        if event % 50 > 3:
            auctions = 3 * (event // 50 + 1)
            auction = FIRST + int(random.integers(max(auctions - 12, 0), auctions))
            bidder = FIRST + int(random.integers(max(event // 50 - 10, 0), event // 50 + 1))
            price = int(10 ** random.uniform(2, 6))
            channel = CHANNELS[int(random.integers(len(CHANNELS)))]
            folders = "/".join(f"d{n}" for n in random.integers(0, 9, 3).tolist())
            url = f"https://auction.example/{folders}/item.htm?query=1"
            if event % 3:
                url += f"&channel_id={int(random.integers(1000))}"
            extra = "".join(random.choice(list("abcde"), 8).tolist())
            who = auction, bidder, price
            rows.append([len(rows), *who, channel, url, _moment(event), extra])
    return _batch(BID, rows)
