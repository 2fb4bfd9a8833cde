"""Queries: answers a query once, over one consistent time of all sources and views.

A query is compiled as a view is, over the arrangements that there are; it is maintained under a
name of its own for as long as its rows are read, and dropped.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from time import perf_counter

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from api.errors import RowsNotComputed
from api.services.bounding import query_budget
from api.services.compiler import Compiler
from api.services.explaining import analyzed, plan_rows
from api.services.parts import Parts
from api.services.readiness import Readiness
from api.services.views import Views
from connectors.offsets import Offsets
from ivm.errors import PoolFailed, UnknownCollection
from ivm.results import Snapshot
from views.compile import CompiledQuery
from views.errors import UnsupportedSql
from views.sql.source.explain import Explained, explained


@dataclass(frozen=True, slots=True)
class Rows:
    """The first rows of an answer, in its order; `more` says that there are others.

    They are as of `time`, which reflects the records before `offsets`; `stalled` says why sources
    stand still that it reads.
    """

    rows: pa.RecordBatch
    more: bool
    time: int
    offsets: Offsets
    stalled: str | None


class Queries:
    """Answers queries; any number at once, as the threads allow that call."""

    def __init__(
        self, parts: Parts, readiness: Readiness, compiler: Compiler, views: Views
    ) -> None:
        self._parts = parts
        self._readiness = readiness
        self._compiler = compiler
        self._views = views
        self._numbers = count(1)

    def ask(
        self,
        query: str,
        language: str,
        most: int,
        demand: Callable[[Iterable[str]], None] = lambda names: None,
    ) -> Rows:
        """The first `most` rows of a query; of one after EXPLAIN, the lines of its plan.

        `demand` is called with the names of what it reads, and raises if it must not. Raises
        NotReady, a kind of SqlError, ViewFailed if it reads such a view, CartesianProduct,
        LimitTooHigh, what `Pool.install` raises, QueryStopped, and RowsNotComputed.
        """
        if not self._readiness.is_replayed:
            raise self._readiness.refusal()
        if language == "sql" and (of := explained(query)) is not None:
            return self._explain(of, most, demand)
        compiled = self._compiled(query, language, demand)
        with self._maintained(compiled) as name:
            snapshot = self._snapshot(name)
        rows, more = _first(snapshot, most, is_ordered=compiled.is_ordered)
        time = snapshot.time or 0
        stalled = self._views.stalled(*compiled.dependencies)
        return Rows(rows.select(compiled.schema.names), more, time, self._offsets(time), stalled)

    def _compiled(
        self, query: str, language: str, demand: Callable[[Iterable[str]], None]
    ) -> CompiledQuery:
        compiled = self._compiler.query(query, language)
        demand(compiled.dependencies)
        for read in compiled.dependencies:
            self._views.refuse_failed(read)
        if compiled.temporal:
            self._parts.pipeline.tick()
        return compiled

    def _snapshot(self, name: str) -> Snapshot:
        snapshot = self._parts.pool.scan(name)
        if snapshot.errors:
            raise RowsNotComputed(_told(self._messages(name), snapshot.errors))
        return snapshot

    def _explain(self, of: Explained, most: int, demand: Callable[[Iterable[str]], None]) -> Rows:
        """The plan of a query; to analyze it, it is answered, and its rows are left aside."""
        pool, began = self._parts.pool, perf_counter()
        compiled = self._compiled(of.query, "sql", demand)
        planned = perf_counter()
        if of.analyze:
            with self._maintained(compiled) as name:
                time = self._snapshot(name).time
                spent = perf_counter() - planned
                found = pool.operators(name, shown="(new)")
            lines = analyzed(found, of.form, planned - began, spent)
        elif of.form == "text":
            time = max(pool.frontier - 1, 0)
            lines = pool.plan_text(compiled.node, ()).splitlines()
        else:
            raise UnsupportedSql("EXPLAIN has FORMAT JSON with ANALYZE only; or ask /v1/explain")
        reached = time or 0
        rows = plan_rows(lines[:most])
        return Rows(rows, len(lines) > most, reached, self._offsets(reached), None)

    @contextmanager
    def _maintained(self, compiled: CompiledQuery) -> Iterator[str]:
        """The name under which the pool has the rows of a query, for a while."""
        name = f"query {next(self._numbers)}"  # no view can be called so
        pool = self._parts.pool
        with query_budget(self._parts.settings) as budget:
            pool.install(name, compiled.node, (), budget=budget)
        try:
            yield name
        finally:
            with suppress(UnknownCollection, PoolFailed):  # it failed by itself, or the pool did
                pool.drop(name)

    def _messages(self, name: str) -> list[str]:
        errors = self._parts.pool.drain(name).errors
        return sorted({str(message) for message in errors.column(0).to_pylist()})

    def _offsets(self, time: int) -> Offsets:
        return self._parts.applier.offsets(time)


def _first(snapshot: Snapshot, most: int, *, is_ordered: bool) -> tuple[pa.RecordBatch, bool]:
    """The first rows in order, each as often as it is there, and whether there are more."""
    counts = np.clip(snapshot.counts, 0, most + 1)  # a row may be there 2^63 times
    order = np.arange(len(counts))
    if is_ordered:
        order = pc.sort_indices(snapshot.rows.column(snapshot.rows.num_columns - 1)).to_numpy()
    needed = np.searchsorted(np.cumsum(counts[order]), most, side="left") + 1
    indices = np.repeat(order[:needed], counts[order[:needed]])[:most]
    return snapshot.rows.take(pa.array(indices, pa.int64())), bool(counts.sum() > most)


def _told(messages: list[str], count: int) -> str:
    shown = "; ".join(messages[:3])
    return f"{count:,} rows cannot be computed: {shown}; leave them out by WHERE or CASE"
