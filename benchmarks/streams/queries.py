"""The queries that all systems maintain, and the answers that DuckDB gives over the same events."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isclose
from typing import Any

import duckdb

from benchmarks.nexmark.data import QUERIES as SQL
from benchmarks.streams.events import Events

Row = tuple[Any, ...]

_CLOSE = 1e-9  # averages, whose scales differ


@dataclass(frozen=True, slots=True)
class Query:
    """A query over `tables`, whose result has `columns`, the first `unique` of them a key.

    `window` has the milliseconds of its windows, if the rows of a result have their start.
    """

    name: str
    about: str
    tables: Sequence[str]
    columns: Sequence[str]
    window: int | None = None

    @property
    def file(self) -> str:
        """The name of its text in `benchmarks/nexmark/queries`."""
        return f"q{int(self.name[1:]):02d}"

    def changes(self, events: Events) -> int:
        """The records that it reads."""
        return sum(map(events.count, self.tables))

    def answer(self, events: Events) -> list[Row]:
        """The rows of its result as DuckDB has them."""
        with duckdb.connect() as judge:
            for table in self.tables:
                judge.register(table, events.batch(table))
            columns = ", ".join(self.columns)
            return judge.execute(f"SELECT {columns} FROM ({SQL[self.file]})").fetchall()

    def closed(self, rows: Iterable[Row], closing: int) -> list[Row]:
        """Those of `rows` whose window has ended at `closing`."""
        if self.window is None:
            return [*rows]
        starts = self.columns.index("starts")
        return [row for row in rows if 1_000 * row[starts] + self.window <= closing]


QUERIES = (
    Query(
        "q4",
        "the average price of each category's auctions",
        ("auction", "bid"),
        ("category", "average"),
    ),
    Query(
        "q5",
        "the auctions with the most bids of each ten seconds, every two seconds",
        ("bid",),
        ("auction", "starts", "num"),
        10_000,
    ),
    Query(
        "q7",
        "the highest bids of each ten seconds",
        ("bid",),
        ("id", "auction", "price", "bidder", "starts"),
        10_000,
    ),
    Query(
        "q8",
        "people who came and opened an auction within the same ten seconds",
        ("person", "auction"),
        ("id", "name", "starts"),
        10_000,
    ),
)


def same(found: Iterable[Row], expected: Iterable[Row]) -> bool:
    """Whether two results have the same rows, averages but for their last digits."""
    ours, theirs = sorted(found), sorted(expected)
    return len(ours) == len(theirs) and all(map(_alike, ours, theirs))


def _alike(one: Row, other: Row) -> bool:
    return all(
        isclose(a, b, rel_tol=_CLOSE) if isinstance(a, float) else a == b
        for a, b in zip(one, other, strict=True)
    )
