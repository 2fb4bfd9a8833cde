"""Previews: the rows that a replacement takes out of each view and brings into it, at one time."""

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import numpy as np

from connectors.columns.buffers import picked
from connectors.ingest.successors import Successor
from connectors.sinks.json_rows import json_rows
from ivm.cluster.pool import AnyPool
from ivm.results import Snapshot


@dataclass(frozen=True, slots=True)
class Difference:
    """The numbers of rows that come into a view and go, and some of them; copies count."""

    view: str
    come: int
    gone: int
    some_that_come: list[dict[str, Any]]
    some_that_go: list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Preview:
    """The differences of all views that a replacement concerns, as of one time."""

    time: int
    differences: Sequence[Difference]


def preview(pool: AnyPool, successors: Sequence[Successor], most: int) -> Preview:
    """The differences as of now, with at most `most` rows of each kind as an example.

    Views that keep no rows and get other columns have no difference to look at. Raises what
    `Pool.scan` raises.
    """
    with ExitStack() as stack:
        names = [name for one in successors for name in _read(one)]
        time = 0
        for name in names:
            hold = pool.hold(name)
            stack.enter_context(hold)
            time = max(time, hold.time)
        return Preview(time, [_difference(pool, one, time, most) for one in successors])


def _read(one: Successor) -> tuple[str, ...]:
    return (one.view, one.name) if one.difference is None else (one.difference_name,)


def _difference(pool: AnyPool, one: Successor, time: int, most: int) -> Difference:
    taken = [pool.scan(name, as_of=time) for name in _read(one)]
    if one.difference is None:
        gone, come = taken
        return Difference(
            one.view,
            int(come.counts.sum()),
            int(gone.counts.sum()),
            list(_some(come, come.counts > 0, most)),
            list(_some(gone, gone.counts > 0, most)),
        )
    [found] = taken
    counts = found.counts
    return Difference(
        one.view,
        int(counts[counts > 0].sum()),
        int(-counts[counts < 0].sum()),
        list(_some(found, counts > 0, most)),
        list(_some(found, counts < 0, most)),
    )


def _some(
    found: Snapshot, chosen: np.ndarray[tuple[int], np.dtype[np.bool_]], most: int
) -> Iterator[dict[str, Any]]:
    """The first rows among the chosen."""
    positions = np.flatnonzero(chosen)[:most]
    yield from json_rows(found.rows.take(picked(positions)))
