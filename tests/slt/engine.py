"""Our side: every query a live view on a pool."""

import math
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa

from ivm.errors import IvmError
from ivm.pool import Pool
from ivm.values.types import arrow_array
from tests.slt.script import Query
from tests.slt.values import lines
from views.catalog import Catalog, Table, View
from views.compile import compile_view

Row = tuple[Hashable, ...]
Rows = Counter[Row]
_CREATE_VIEW = re.compile(r"create\s+view\s+(\w+)\s+as\s+(.*)", re.I | re.S)


@dataclass(slots=True)
class Live:
    """A view: the sum of its deltas, and the row errors that stand."""

    name: str
    rows: Rows = field(default_factory=Counter)
    errors: Counter[str] = field(default_factory=Counter)


class Engine:
    """A pool with the tables of one script and a view for each of its queries."""

    def __init__(self, workers: int = 1) -> None:
        self.pool = Pool(workers)
        self.catalog = Catalog()
        self.held: dict[str, Rows] = {}
        self.views: dict[str, Live] = {}

    def create(self, table: Table) -> None:
        """Add a table."""
        self.catalog.add_table(table)
        self.pool.create_input(table.name, table.schema, table.key)
        self.held[table.name] = Counter()

    def follow(self, contents: dict[str, Iterable[Row]]) -> None:
        """Lead the tables to `contents`, as one time."""
        time = self.pool.frontier
        for name, rows in contents.items():
            wanted, schema = Counter(rows), self.catalog[name].schema
            moved = Counter(wanted)
            moved.subtract(self.held[name])
            changed = [(row, n) for row, n in moved.items() if n]
            columns = [
                arrow_array([row[i] for row, _ in changed], f.type) for i, f in enumerate(schema)
            ]
            batch = pa.RecordBatch.from_arrays(columns, schema=schema)
            self.pool.feed(name, batch, np.array([n for _, n in changed], np.int64), time)
            self.held[name] = wanted
        self.pool.advance(time + 1)
        for live in self.views.values():
            self._drain(live)

    def is_view(self, statement: str) -> bool:
        """Whether a statement is CREATE VIEW."""
        return _CREATE_VIEW.fullmatch(statement.strip()) is not None

    def create_view(self, statement: str) -> None:
        """CREATE VIEW, as a view that later queries read."""
        match = _CREATE_VIEW.fullmatch(statement.strip())
        assert match is not None, statement
        name, sql = match[1].lower(), match[2]
        view = compile_view(sql, self.catalog)
        self.pool.install(name, view.node, view.key)
        self.catalog.add_view(
            View(
                name,
                sql,
                "sql",
                view.schema,
                view.key,
                view.dependencies,
                is_unique=view.is_unique,
            )
        )

    def install(self, key: str, sql: str) -> str | None:
        """Make a query a view; if it is refused, the answer is `code: message`."""
        live = Live(f"view {len(self.views)}")
        try:
            view = compile_view(sql, self.catalog)
            self.pool.install(live.name, view.node, view.key)
        except IvmError as error:
            return f"{error.code}: {error}"
        self.views[key] = live
        self._drain(live)
        return None

    def answer(self, query: Query) -> tuple[str, ...] | None:
        """The lines of a view, or None while a row error stands."""
        live = self.views[query.key]
        if live.errors:
            return None
        snapshot = self.pool.scan(live.name)
        looked_up = lines(query.types, _elements(_counted(snapshot.rows, snapshot.counts)))
        summed = lines(query.types, _elements(live.rows.items()))
        assert looked_up == summed, f"a look-up has {looked_up}, the deltas sum to {summed}"
        return summed

    def errors(self, query: Query) -> list[str]:
        """The row errors that stand."""
        return sorted(self.views[query.key].errors)

    def _drain(self, live: Live) -> None:
        deltas = self.pool.drain(live.name)
        live.rows = _sum(live.rows, _counted(deltas.rows, deltas.diffs))
        messages = deltas.errors.column(0).to_pylist()
        live.errors = _sum(live.errors, zip(messages, deltas.error_diffs, strict=True))


def _counted(batch: pa.RecordBatch, counts: Iterable[int]) -> Iterator[tuple[Row, int]]:
    columns = [[_hashable(v) for v in column.to_pylist()] for column in batch.columns]
    return zip(zip(*columns, strict=True), counts, strict=True)


def _hashable(value: Any) -> Any:
    """A list as a tuple; every NaN as the same one."""
    if isinstance(value, float) and math.isnan(value):
        return math.nan
    return tuple(map(_hashable, value)) if isinstance(value, list) else value


def _sum(total: Counter[Any], changes: Iterable[tuple[Any, int]]) -> Counter[Any]:
    out = Counter(total)
    for value, diff in changes:
        out[value] += int(diff)
    return Counter({value: n for value, n in out.items() if n})


def _elements(rows: Iterable[tuple[Row, int]]) -> Iterator[Row]:
    for row, count in rows:
        assert count > 0, f"{row} is there {count} times"
        yield from [row] * int(count)
