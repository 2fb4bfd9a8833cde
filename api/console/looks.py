"""Looks at a whole service: what the overview says of its sources and views at one moment.

Rates are those since the look before; at the first one there are none.
"""

from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from api.answers.sources import Source
from api.console.rates import Rates
from api.console.units import bytes_text, state_text
from api.routes import sources, views
from api.runtime import Runtime
from ivm.errors import UnknownCollection
from views.catalog import View


@dataclass(frozen=True, slots=True)
class Look:
    """A service at one moment: its fault, if it is not ready; a line; a row for each of its parts.

    A row has the numbers, texts and state of a source or view by the names of columns.
    """

    fault: str | None
    summary: str
    sources: list[dict[str, Any]]
    views: list[dict[str, Any]]


class Looks:
    """Looks at one service, one after the other."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self._records, self._deltas, self._spent = Rates(), Rates(), Rates()

    def look(self) -> Look:
        """The service as it is; the pool may keep it waiting for a moment."""
        runtime = self._runtime
        found = runtime.pool.arrangements()
        updates: Counter[str] = Counter()
        held: Counter[str] = Counter()
        for info in found:
            updates[info.name] = info.records
            for user in info.users[:1]:  # the first one made it
                held[user] += info.bytes
        of_sources, of_views = self._sources(), self._views(updates, held)
        total = sum(info.bytes for info in found)
        return Look(
            runtime.readiness.fault(),
            f"time {max(runtime.pool.frontier - 1, 0):,} · {len(of_sources):,} sources · "
            f"{len(of_views):,} views · {bytes_text(total)} in arrangements",
            of_sources,
            of_views,
        )

    def _sources(self) -> list[dict[str, Any]]:
        runtime = self._runtime
        found = sources.described(runtime, runtime.sources.all())
        rates = self._records.since_last({one.name: sum(one.records.values()) for one in found})
        return [
            {
                "source": one.name,
                "state": state_text(one.status, one.hydrated),
                "topic": one.topic or one.topic_pattern,
                "lag": _lag(one),
                "records/s": rates.get(one.name),
                "rejected": one.records["rejected"],
                "errors": one.errors,
                "why": one.stalled or "",
            }
            for one in found
        ]

    def _views(self, updates: Counter[str], held: Counter[str]) -> list[dict[str, Any]]:
        runtime = self._runtime
        known = runtime.views.all_known()
        changes = self._deltas.since_last(runtime.meter.deltas.copy())
        spent = self._spent.since_last(_milliseconds(runtime, known))
        return [
            {
                "view": view.name,
                "state": state_text(one["status"], one.get("hydrated")),
                "updates held": updates[f"{view.name}[{', '.join(view.key)}]"],
                "KiB": round(held[view.name] / 1024, 1),
                "changes/s": changes.get(view.name),
                "ms/s": spent.get(view.name),
                "errors": one["errors"],
                "why": one["reason"] or one["stalled"] or "",
            }
            for view in known
            for one in [views.described(runtime, view)]
        ]


def _milliseconds(runtime: Runtime, known: Sequence[View]) -> dict[str, float]:
    """The time that the operators of each view have taken."""
    spent = {}
    for view in known:
        with suppress(UnknownCollection):  # it failed, or is not there yet
            spent[view.name] = 1000 * runtime.pool.spent(view.name).seconds
    return spent


def _lag(one: Source) -> int:
    """The records that are still to come of a source, of all its topics."""
    parts = [one.lag, *(read.lag for read in (one.topics or {}).values())]
    return sum(count for part in parts for count in part.values())
