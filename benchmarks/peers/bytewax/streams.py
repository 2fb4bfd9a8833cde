"""Nexmark's queries for Bytewax, from Kafka to Kafka: `ADDRESS QUERY RUN DIRECTORY`.

Two processes with a worker each, as its guide wants where Python is what costs. Messages are taken
a batch at a time: what a batch says of a group is put together before it is exchanged, and the
state of the group takes it at once. Its window operators are not used: they take messages one by
one, drop those that come late by the clock of their key, and close by the clock of the machine. A
group has its latest rows under its key.
"""

import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import bytewax.operators as op
import orjson
from bytewax.connectors.kafka import KafkaSink, KafkaSinkMessage, KafkaSource, KafkaSourceMessage
from bytewax.dataflow import Dataflow, Stream
from bytewax.operators import StatefulBatchLogic

from api.demo.ports import free_ports

WORKERS = 2

_BATCH = 5_000  # messages
_TUMBLE, _HOP = 10, 2  # seconds
_SHARDS = 16  # of auctions: each is the state of one key

Keyed = tuple[str, Any]
Messages = list[KafkaSourceMessage[Any, Any]]
Read = Callable[[str], Stream[Any]]


class Logic(StatefulBatchLogic[Any, Any, Any]):
    """The state of a key, which stays for good."""

    def __init__(self, _resumed: object) -> None:
        self.begin()

    def begin(self) -> None:
        """Begin with nothing."""

    def take(self, values: list[Any]) -> list[Any]:
        """Take what is new, and say what follows."""
        raise NotImplementedError

    def on_batch(self, values: list[Any]) -> tuple[list[Any], bool]:
        """Called by Bytewax."""
        return self.take(values), StatefulBatchLogic.RETAIN

    def snapshot(self) -> Any:
        """Nothing is recovered."""
        return None


class Top(Logic):
    """The auctions with the most bids of a window."""

    def begin(self) -> None:
        """No auction has a bid."""
        self.counts: Counter[int] = Counter()
        self.shown: list[tuple[int, int]] = []

    def take(self, values: list[Counter[int]]) -> list[Any]:
        """Add the counts of batches."""
        for counts in values:
            self.counts.update(counts)
        most = max(self.counts.values())
        top = [(auction, num) for auction, num in self.counts.items() if num == most]
        if top == self.shown:
            return []
        self.shown = top
        return [top]


class Highest(Logic):
    """The bids of a window that none is higher than."""

    def begin(self) -> None:
        """There is no bid."""
        self.price = -1
        self.bids: list[dict[str, Any]] = []

    def take(self, values: list[list[dict[str, Any]]]) -> list[Any]:
        """Take the highest bids of batches."""
        has_changed = False
        for bids in values:
            price = bids[0]["price"]
            if price > self.price:
                self.price, self.bids, has_changed = price, bids, True
            elif price == self.price:
                self.bids, has_changed = self.bids + bids, True
        return [self.bids] if has_changed else []


class Newcomers(Logic):
    """People of a window, and who has sold in it."""

    def begin(self) -> None:
        """Nobody has come."""
        self.people: dict[int, str] = {}
        self.sellers: set[int] = set()

    def take(self, values: list[dict[int, str] | set[int]]) -> list[Any]:
        """Take people by their ids, or sellers: each newcomer is said once."""
        found: dict[int, str] = {}
        for value in values:
            if isinstance(value, dict):
                self.people |= value
                found |= {who: name for who, name in value.items() if who in self.sellers}
            else:
                new = value - self.sellers
                self.sellers |= new
                found |= {who: self.people[who] for who in new & self.people.keys()}
        return [*found.items()]


class Winning(Logic):
    """The auctions of a shard with their highest prices in time, and bids that came before them."""

    def begin(self) -> None:
        """There is no auction."""
        self.auctions: dict[int, list[int]] = {}
        self.early: dict[int, list[tuple[int, int]]] = defaultdict(list)

    def take(self, values: list[Any]) -> list[Any]:
        """Take auctions and bids; say of categories by how much their sums and counts change."""
        changes: dict[int, list[int]] = defaultdict(lambda: [0, 0])
        for is_auction, rows in values:
            if is_auction:
                for number, begins, expires, category in rows:
                    self.auctions[number] = [begins, expires, category, -1]
                    for bid in self.early.pop(number, ()):
                        self._bid(number, *bid, changes)
            else:
                for number, at, price in rows:
                    self._bid(number, at, price, changes)
        return [*changes.items()]

    def _bid(self, number: int, at: int, price: int, changes: dict[int, list[int]]) -> None:
        auction = self.auctions.get(number)
        if auction is None:
            self.early[number].append((at, price))
            return
        begins, expires, category, before = auction
        if begins <= at <= expires and price > before:
            auction[3] = price
            change = changes[category]
            if before < 0:
                change[0] += price
                change[1] += 1
            else:
                change[0] += price - before


class Average(Logic):
    """The sum and the count of a category's final prices."""

    def begin(self) -> None:
        """Nothing is sold."""
        self.sum = self.count = 0

    def take(self, values: list[list[int]]) -> list[Any]:
        """Add changes."""
        for change, more in values:
            self.sum += change
            self.count += more
        return [self.sum / self.count]


def averages(read: Read) -> Stream[Keyed]:
    """The average price of each category's auctions."""

    def auctions(messages: Messages) -> Iterator[Keyed]:
        shards: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        for row in rows_of(messages):
            number = row["id"]
            found = number, row["date_time"], row["expires"], row["category"]
            shards[number % _SHARDS].append(found)
        return ((str(shard), (True, rows)) for shard, rows in shards.items())

    def bids(messages: Messages) -> Iterator[Keyed]:
        shards: dict[int, list[tuple[int, ...]]] = defaultdict(list)
        for row in rows_of(messages):
            number = row["auction"]
            shards[number % _SHARDS].append((number, row["date_time"], row["price"]))
        return ((str(shard), (False, rows)) for shard, rows in shards.items())

    def by_category(item: tuple[str, tuple[int, list[int]]]) -> Keyed:
        category, change = item[1]
        return str(category), change

    both = op.merge(
        "both",
        op.flat_map_batch("auctions", read("auction"), auctions),
        op.flat_map_batch("bids", read("bid"), bids),
    )
    changes = op.map("by_category", op.stateful_batch("winning", both, Winning), by_category)
    averaged = op.stateful_batch("average", changes, Average)
    return op.map(
        "rows",
        averaged,
        lambda item: (item[0], [{"category": int(item[0]), "average": item[1]}]),
    )


def hot(read: Read) -> Stream[Keyed]:
    """The auctions with the most bids of each ten seconds, every two seconds."""

    def counts(messages: Messages) -> Iterator[Keyed]:
        panes: dict[int, list[int]] = defaultdict(list)
        for row in rows_of(messages):
            panes[row["date_time"] // (1_000 * _HOP)].append(row["auction"])
        for pane, auctions in panes.items():
            counted = Counter(auctions)
            for before in range(0, _TUMBLE, _HOP):
                yield str(pane * _HOP - before), counted

    def rows(item: tuple[str, list[tuple[int, int]]]) -> Keyed:
        starts = int(item[0])
        return item[0], [{"auction": a, "starts": starts, "num": num} for a, num in item[1]]

    top = op.stateful_batch("top", op.flat_map_batch("counts", read("bid"), counts), Top)
    return op.map("rows", top, rows)


def highest(read: Read) -> Stream[Keyed]:
    """The highest bids of each ten seconds."""

    def tops(messages: Messages) -> Iterator[Keyed]:
        found: dict[int, list[dict[str, Any]]] = {}
        for row in rows_of(messages):
            window = row["date_time"] // (1_000 * _TUMBLE)
            top = found.get(window)
            if top is None or row["price"] > top[0]["price"]:
                found[window] = [row]
            elif row["price"] == top[0]["price"]:
                top.append(row)
        return ((str(window * _TUMBLE), top) for window, top in found.items())

    def rows(item: tuple[str, list[dict[str, Any]]]) -> Keyed:
        starts, members = int(item[0]), ("id", "auction", "price", "bidder")
        return item[0], [{m: bid[m] for m in members} | {"starts": starts} for bid in item[1]]

    bids = op.stateful_batch("highest", op.flat_map_batch("tops", read("bid"), tops), Highest)
    return op.map("rows", bids, rows)


def newcomers(read: Read) -> Stream[Keyed]:
    """People who came and opened an auction within the same ten seconds."""

    def people(messages: Messages) -> Iterator[Keyed]:
        windows: dict[int, dict[int, str]] = defaultdict(dict)
        for row in rows_of(messages):
            windows[row["date_time"] // (1_000 * _TUMBLE)][row["id"]] = row["name"]
        return ((str(window * _TUMBLE), who) for window, who in windows.items())

    def sellers(messages: Messages) -> Iterator[Keyed]:
        windows: dict[int, set[int]] = defaultdict(set)
        for row in rows_of(messages):
            windows[row["date_time"] // (1_000 * _TUMBLE)].add(row["seller"])
        return ((str(window * _TUMBLE), who) for window, who in windows.items())

    def rows(item: tuple[str, tuple[int, str]]) -> Keyed:
        starts, (who, name) = item
        return f"{starts}.{who}", [{"id": who, "name": name, "starts": int(starts)}]

    both = op.merge(
        "both",
        op.flat_map_batch("people", read("person"), people),
        op.flat_map_batch("sellers", read("auction"), sellers),
    )
    return op.map("rows", op.stateful_batch("newcomers", both, Newcomers), rows)


QUERIES: dict[str, Callable[[Read], Stream[Keyed]]] = {
    "q4": averages,
    "q5": hot,
    "q7": highest,
    "q8": newcomers,
}


def rows_of(messages: Messages) -> Iterator[dict[str, Any]]:
    """The rows of a batch of messages."""
    loads = orjson.loads
    return (loads(message.value) for message in messages)


def flow(given: str) -> Dataflow:
    """The dataflow of `ADDRESS QUERY RUN`."""
    address, query, run = given.split()
    dataflow = Dataflow(query)

    def read(table: str) -> Stream[Any]:
        source = KafkaSource(
            [address],
            [f"{table}.{run}"],
            add_config={"isolation.level": "read_committed"},
            batch_size=_BATCH,
        )
        return op.input(table, dataflow, source)

    results = QUERIES[query](read)
    messages = op.map("messages", results, _message)
    op.output("results", messages, KafkaSink([address], f"results.{run}"))
    print("built", flush=True)
    return dataflow


def _message(item: Keyed) -> KafkaSinkMessage[bytes, bytes]:
    return KafkaSinkMessage(item[0].encode(), orjson.dumps({"rows": item[1]}))


def main(address: str, query: str, run: str, _directory: str) -> None:
    """Run the workers until the process is ended."""
    addresses = ";".join(f"127.0.0.1:{port}" for port in free_ports(WORKERS))
    what = f"{__spec__.name}:flow('{address} {query} {run}')"
    command = [sys.executable, "-m", "bytewax.run", what, "-a", addresses, "-i"]
    workers = [
        subprocess.Popen([*command, str(number)], stdout=subprocess.PIPE, text=True)
        for number in range(WORKERS)
    ]
    for worker in workers:
        assert worker.stdout is not None
        worker.stdout.readline()
    print("ready", flush=True)
    for worker in workers:
        worker.wait()


if __name__ == "__main__":
    main(*sys.argv[1:])
