"""All queries maintained at once while every table changes; DuckDB answers after each batch."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from math import isclose
from pathlib import Path
from time import perf_counter
from typing import Any

import duckdb
import numpy as np
import pyarrow as pa

from benchmarks.changes import Change, Course
from benchmarks.errors import BenchmarkError
from ivm.cluster.pool import ClusterPool
from ivm.pool import Pool
from views.catalog import Catalog, Table
from views.compile import compile_view

Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Verified:
    """How many answers were compared, and how long each query took to plan and install."""

    compared: int
    registered: Mapping[str, float]  # by query, seconds; over empty tables


@dataclass(frozen=True, slots=True)
class Trial:
    """Views over `tables`, which get a folder for their files; a batch changes a `share` of each
    table's rows."""

    name: str
    queries: Mapping[str, str]
    tables: Callable[[Path], Sequence[tuple[Table, pa.RecordBatch]]]
    share: float

    def verify(
        self,
        folder: Path,
        batches: int,
        step: Callable[[], None],
        pool: Pool | ClusterPool | None = None,
    ) -> Verified:
        """Compare every query after each batch, in `pool` or a new one; `step` hears of each.

        Raises BenchmarkError naming the query and the batch that differ.
        """
        given = self.tables(folder)
        tables = [table for table, _ in given]
        compared = 0
        with duckdb.connect() as judge:
            if pool is None:
                pool = Pool()
            registered = _prepare(pool, judge, tables, self.queries)
            for time, changes in enumerate(_all(Course(given, self.share), batches)):
                _apply(pool, judge, tables, changes, time)
                for name, query in self.queries.items():
                    _compare(pool, judge, name, query, time)
                    compared += 1
                step()
        return Verified(compared, registered)


def _all(course: Course, batches: int) -> Iterator[dict[str, Change]]:
    yield course.first()
    yield from course.batches(batches)


def _prepare(
    pool: Pool | ClusterPool,
    judge: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    queries: Mapping[str, str],
) -> dict[str, float]:
    catalog, registered = Catalog(tables), {}
    for table in tables:
        pool.create_input(table.name, table.schema, table.key)
        judge.from_arrow(table.schema.empty_table()).create(table.name)
    for name, query in queries.items():
        began = perf_counter()
        arranged = [info.name for info in pool.arrangements()]
        view = compile_view(query, catalog, arranged=arranged)
        pool.install(name, view.node, view.key)
        registered[name] = perf_counter() - began
    return registered


def _apply(
    pool: Pool | ClusterPool,
    judge: duckdb.DuckDBPyConnection,
    tables: Sequence[Table],
    changes: Mapping[str, Change],
    time: int,
) -> None:
    for table in tables:
        change = changes[table.name]
        for rows, diff in ((change.removed, -1), (change.inserted, 1)):
            pool.feed(table.name, rows, np.full(rows.num_rows, diff, np.int64), time)
        key = ", ".join(table.key)
        judge.register("removed", change.removed)
        judge.register("inserted", change.inserted)
        judge.execute(f"delete from {table.name} where ({key}) in (select ({key}) from removed)")
        judge.execute(f"insert into {table.name} from inserted")
    pool.advance(time + 1)


def _compare(
    pool: Pool | ClusterPool, judge: duckdb.DuckDBPyConnection, name: str, query: str, time: int
) -> None:
    found = pool.scan(name)
    theirs = judge.sql(query).to_arrow_table()
    ours = [
        row
        for row, n in zip(_rows(found.rows), found.counts.tolist(), strict=True)
        for _ in range(n)
    ]
    floats = [i for i, field in enumerate(theirs.schema) if field.type == pa.float64()]
    differing = [
        (mine, wanted)
        for mine, wanted in zip_longest(_ordered(ours, floats), _ordered(_rows(theirs), floats))
        if mine is None or wanted is None or not _same(mine, wanted)
    ]
    if differing or found.errors:
        mine, wanted = differing[0] if differing else (None, None)
        raise BenchmarkError(
            f"{name} differs from DuckDB after batch {time}: {found.errors} errors, "
            f"{len(differing)} rows, the first {mine} where it has {wanted}"
        )


def _rows(rows: pa.RecordBatch | pa.Table) -> Iterable[Row]:
    return zip(*(column.to_pylist() for column in rows.columns), strict=True)


def _ordered(rows: Iterable[Row], floats: Sequence[int]) -> list[Row]:
    """The rows in the order of what is exact in them, then of the rest."""

    def key(row: Row) -> tuple[Any, ...]:
        exact = [cell for i, cell in enumerate(row) if i not in floats]
        return tuple((cell is None, cell) for cell in [*exact, *(row[i] for i in floats)])

    return sorted(rows, key=key)


def _same(mine: Row, wanted: Row) -> bool:
    """Whether the rows are equal; averages and quotients, exact in ours, are floats in DuckDB."""
    return all(
        isclose(a, b, rel_tol=1e-9, abs_tol=1e-6) if isinstance(b, float) else a == b
        for a, b in zip(mine, wanted, strict=True)
    )
