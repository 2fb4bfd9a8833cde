"""Nexmark's queries for Pathway, from Kafka to Kafka: `ADDRESS QUERY RUN DIRECTORY`.

Expressions, groups and joins only, which Pathway's engine computes itself: no function of Python is
called for a row. Windows are groups by their first second, as nothing need be forgotten. A column
cannot be called `id`: here it is `number`.
"""

import os
import sys
from collections.abc import Callable

import pathway as pw

_AUTOCOMMIT_MS = 500
_TUMBLE, _HOP = 10, 2  # seconds


class Person(pw.Schema):
    """People who sell and bid."""

    number: int
    name: str
    email: str
    city: str
    state: str
    date_time: int


class Auction(pw.Schema):
    """What is sold, until when."""

    number: int
    item_name: str
    description: str
    initial_bid: int
    reserve: int
    date_time: int
    expires: int
    seller: int
    category: int


class Bid(pw.Schema):
    """Who bids how much."""

    number: int
    auction: int
    bidder: int
    price: int
    channel: str
    url: str
    date_time: int
    extra: str


SCHEMAS = {"person": Person, "auction": Auction, "bid": Bid}
Read = Callable[[str], pw.Table]


def averages(read: Read) -> pw.Table:
    """The average price of each category's auctions."""
    auction, bid = read("auction"), read("bid")
    bids = auction.join(bid, auction.number == bid.auction).select(
        number=auction.number,
        category=auction.category,
        price=bid.price,
        is_in_time=(bid.date_time >= auction.date_time) & (bid.date_time <= auction.expires),
    )
    winning = (
        bids.filter(pw.this.is_in_time)
        .groupby(pw.this.number, pw.this.category)
        .reduce(pw.this.category, final=pw.reducers.max(pw.this.price))
    )
    return winning.groupby(pw.this.category).reduce(
        pw.this.category, average=pw.reducers.avg(pw.this.final)
    )


def hot(read: Read) -> pw.Table:
    """The auctions with the most bids of each ten seconds: five counts of two seconds each."""
    bid = read("bid")
    paned = bid.select(pw.this.auction, pane=_HOP * (pw.this.date_time // (1_000 * _HOP)))
    panes = paned.groupby(pw.this.auction, pw.this.pane).reduce(
        pw.this.auction, pw.this.pane, num=pw.reducers.count()
    )
    slides = [
        panes.select(pw.this.auction, pw.this.num, starts=pw.this.pane - before)
        for before in range(0, _TUMBLE, _HOP)
    ]
    counted = (
        pw.Table.concat_reindex(*slides)
        .groupby(pw.this.auction, pw.this.starts)
        .reduce(pw.this.auction, pw.this.starts, num=pw.reducers.sum(pw.this.num))
    )
    most = counted.groupby(pw.this.starts).reduce(pw.this.starts, num=pw.reducers.max(pw.this.num))
    return counted.join(most, counted.starts == most.starts, counted.num == most.num).select(
        counted.auction, counted.starts, counted.num
    )


def highest(read: Read) -> pw.Table:
    """The highest bids of each ten seconds."""
    bid = read("bid").select(
        number=pw.this.number,
        auction=pw.this.auction,
        price=pw.this.price,
        bidder=pw.this.bidder,
        starts=_TUMBLE * (pw.this.date_time // (1_000 * _TUMBLE)),
    )
    most = bid.groupby(pw.this.starts).reduce(pw.this.starts, price=pw.reducers.max(pw.this.price))
    return bid.join(most, bid.starts == most.starts, bid.price == most.price).select(
        bid.number, bid.auction, bid.price, bid.bidder, bid.starts
    )


def newcomers(read: Read) -> pw.Table:
    """People who came and opened an auction within the same ten seconds."""
    person = read("person").select(
        number=pw.this.number,
        name=pw.this.name,
        starts=_TUMBLE * (pw.this.date_time // (1_000 * _TUMBLE)),
    )
    sold = read("auction").select(
        seller=pw.this.seller, starts=_TUMBLE * (pw.this.date_time // (1_000 * _TUMBLE))
    )
    sellers = sold.groupby(pw.this.seller, pw.this.starts).reduce(pw.this.seller, pw.this.starts)
    return person.join(
        sellers, person.number == sellers.seller, person.starts == sellers.starts
    ).select(person.number, person.name, person.starts)


QUERIES: dict[str, Callable[[Read], pw.Table]] = {
    "q4": averages,
    "q5": hot,
    "q7": highest,
    "q8": newcomers,
}


def main(address: str, query: str, run: str, _directory: str) -> None:
    """Maintain a query until the process is ended."""
    os.environ["PATHWAY_THREADS"] = "2"
    broker = {"bootstrap.servers": address}
    reader = {
        **broker,
        "auto.offset.reset": "earliest",
        "isolation.level": "read_committed",
    }

    def read(table: str) -> pw.Table:
        return pw.io.kafka.read(
            {**reader, "group.id": f"{table}.{run}"},
            f"{table}.{run}",
            schema=SCHEMAS[table],
            format="json",
            json_field_paths={"number": "/id"},
            autocommit_duration_ms=_AUTOCOMMIT_MS,
        )

    results = QUERIES[query](read)
    pw.io.kafka.write(results, {**broker, "linger.ms": "5"}, f"results.{run}", format="json")
    print("ready", flush=True)
    pw.run(monitoring_level=pw.MonitoringLevel.NONE)


if __name__ == "__main__":
    main(*sys.argv[1:])
