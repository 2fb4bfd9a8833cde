"""Successors: dataflows maintained beside views, which take their places at one time.

Beside its successor a view has a *difference*, a dataflow as well: the successor's rows less the
view's, D(t) = S(t) - V(t), which the pool keeps up to date by what changes. So the difference that
sinks are given at the time of the switch costs what it holds, however large the view is: readers
of the view's topic fold V(t - 1) + D(t) = S(t).

Where the columns or the key differ there is no such difference: all rows go in the former form,
and come in the new one.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from connectors.columns.buffers import picked
from connectors.sinks.sink import Output, Redefined
from ivm.cluster.pool import AnyPool
from ivm.dataflow.nodes import Node
from ivm.errors import DataflowFailed, PoolFailed, UnknownCollection
from ivm.results import Deltas, Snapshot

# The error rows of deltas; their messages are in one column.
ERRORS = pa.schema([pa.field("error", pa.string(), nullable=False)])


@dataclass(slots=True, eq=False)
class Successor:
    """A definition that a view is about to get: the view as its sinks will know it is `output`.

    `node` reads other successors where the definition reads views that have some. With `lookups`
    its rows are kept. `difference` is None where the columns or the key differ. `errors` are its
    row errors by message; `changed` is the last time at which the difference has changed.
    """

    output: Output
    node: Node
    lookups: bool
    difference: Node | None
    errors: Counter[str] = field(default_factory=Counter)
    changed: int = 0

    @property
    def view(self) -> str:
        """The name of the view."""
        return self.output.name

    @property
    def name(self) -> str:
        """The name under which the pool maintains it; no view can be called so."""
        return name_of(self.view)

    @property
    def difference_name(self) -> str:
        """The name under which the pool maintains the difference."""
        return f"{self.view} (difference)"


def name_of(view: str) -> str:
    """The name under which the pool maintains the successor of a view."""
    return f"{view} (next)"


class Successors:
    """The successors that are hydrated, by their views; the applier's lock guards them."""

    def __init__(self, pool: AnyPool) -> None:
        self._pool = pool
        self._all: dict[str, Successor] = {}
        self.failed: dict[str, str] = {}

    def __getitem__(self, view: str) -> Successor:
        return self._all[view]

    def install(self, successor: Successor) -> None:
        """Hydrate a successor and its difference beside steps; no lock is held.

        Raises what `Pool.install` raises; then nothing of it is there.
        """
        key = successor.output.key if successor.lookups else None
        self._pool.install(successor.name, successor.node, key)
        if successor.difference is None:
            return
        try:
            names = successor.difference.schema.names
            self._pool.install(successor.difference_name, successor.difference, names)
        except BaseException:
            self._pool.drop(successor.name)
            raise

    def add(self, successor: Successor, time: int) -> None:
        """Keep one that was installed (raises DataflowFailed if it has failed since)."""
        self._all[successor.view] = successor
        self.failed.pop(successor.view, None)
        try:
            self._drain(successor)
        except UnknownCollection as error:
            reason = self.failed.setdefault(successor.view, "it cannot be kept up to date")
            raise DataflowFailed({successor.view: reason}) from error
        successor.changed = time

    def drain(self, drained: Mapping[str, Deltas]) -> None:
        """Take what the successors have changed, which goes nowhere, beside what views have."""
        for successor in self._all.values():
            changes = drained.get(successor.view)
            if successor.difference is None and changes is not None and len(changes.times):
                successor.changed = int(changes.times[-1])
            if successor.view not in self.failed:
                try:
                    self._drain(successor)
                except DataflowFailed as error:
                    self.fail(error.reasons)
                except UnknownCollection:
                    self.failed.setdefault(successor.view, "its view has failed")

    def fail(self, reasons: Mapping[str, str]) -> None:
        """Note which successors are among the dataflows that the pool has dropped, and why."""
        for view, successor in self._all.items():
            for name in (successor.name, successor.difference_name):
                if name in reasons:
                    self.failed[view] = reasons[name]

    def drop(self, successors: Sequence[Successor]) -> None:
        """Stop these, each after those that it reads, as far as they are there."""
        for successor in reversed(successors):
            with suppress(PoolFailed):  # then it serves readers alone, until the restart
                self._drop_difference(successor)
                if successor.name in self._pool.names:
                    self._pool.drop(successor.name)
            self._all.pop(successor.view, None)
            self.failed.pop(successor.view, None)

    def take_over(
        self, views: Sequence[str], time: int, errors: Mapping[str, Counter[str]]
    ) -> list[Redefined]:
        """Let the successors of views take their places at a new time, and tell the differences.

        `errors` are the views' row errors by message. Nothing else happens at that time, so that
        the differences are those of the time before it.
        """
        self.drain({})
        redefined = [self._redefined(self._all[view], time, errors[view]) for view in views]
        for view in views:
            self._drop_difference(self._all[view])
        self._pool.replace({name_of(view): view for view in views}, time + 1)
        return redefined

    def forget(self, view: str) -> Successor:
        """Keep a successor no more that is in its view's place: the pool has it by that name."""
        return self._all.pop(view)

    def _drop_difference(self, successor: Successor) -> None:
        if successor.difference_name in self._pool.names:
            self._pool.drop(successor.difference_name)

    def _drain(self, successor: Successor) -> None:
        deltas = self._pool.drain(successor.name)
        successor.errors = folded(successor.errors, deltas)
        if successor.difference is not None:
            deltas = self._pool.drain(successor.difference_name)
        if len(deltas.times):
            successor.changed = int(deltas.times[-1])

    def _redefined(self, successor: Successor, time: int, errors: Counter[str]) -> Redefined:
        output, more = successor.output, Counter(successor.errors)
        more.subtract(errors)
        if successor.difference is not None:
            found = self._pool.scan(successor.difference_name)
            return Redefined(output, None, deltas_of(found, output.schema, time, more))
        former, later = self._pool.scan(successor.view), self._pool.scan(successor.name)
        gone = deltas_of(former, former.rows.schema, time, Counter(), sign=-1)
        return Redefined(output, gone, deltas_of(later, output.schema, time, more))


def folded(errors: Counter[str], deltas: Deltas) -> Counter[str]:
    """The row errors by message after these changes."""
    if not deltas.errors.num_rows:
        return errors
    fold = Counter(errors)
    messages = deltas.errors.column(0).to_pylist()
    for message, diff in zip(messages, deltas.error_diffs.tolist(), strict=True):
        fold[str(message)] += diff
    return Counter({message: count for message, count in fold.items() if count})


def deltas_of(
    found: Snapshot, schema: pa.Schema, time: int, errors: Counter[str], sign: int = 1
) -> Deltas:
    """The rows of a snapshot, and row errors by message, as changes at one time.

    Those that take rows out come first.
    """
    counts = sign * found.counts
    order = np.argsort(counts > 0, kind="stable")
    rows = found.rows if (np.diff(order) == 1).all() else found.rows.take(picked(order))
    told = [(message, count) for message, count in sorted(errors.items()) if count]
    return Deltas(
        pa.RecordBatch.from_arrays(rows.columns, schema=schema),
        np.full(len(counts), time, np.uint64),
        counts[order],
        pa.RecordBatch.from_arrays([pa.array([m for m, _ in told], pa.string())], schema=ERRORS),
        np.full(len(told), time, np.uint64),
        _numbers(count for _, count in told),
    )


def _numbers(counts: Iterator[int]) -> NDArray[np.int64]:
    return np.fromiter(counts, np.int64)
