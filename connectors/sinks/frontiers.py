"""Frontiers of views that did not change: told where they say something new, and not too often.

A view that changes is told its frontier with its deltas. Of one that did not, a frontier says that
it reflects more of its inputs. So there is none at a time at which none of the sources moved that
it reads, and else one in an interval for all times in it. With an interval of a second, ten batches
a second make one frontier a second of an idle view; the last of them is told an interval, and one
look of the clock, after its time at the latest. Folding deltas needs none of them: a time without
deltas changes no row.
"""

import time as clock
from collections.abc import Iterable, Mapping
from math import inf
from typing import Any

from connectors.offsets import Offsets
from connectors.sinks.sink import Output, Reached

# Input offsets as a frontier has them (`Offsets.told`).
Told = Mapping[str, Any]


class Frontiers:
    """The input offsets that each view was told last, and when; used by one thread at a time."""

    def __init__(self, seconds: float) -> None:
        """Between two frontiers of a view that does not change are `seconds` at least."""
        self._seconds = seconds
        self._sources: dict[str, frozenset[str] | None] = {}
        self._told: dict[str, tuple[Told, float]] = {}
        self._offsets = Offsets()
        self._as_told: Told = self._offsets.told()

    def watch(self, output: Output) -> None:
        """Tell of a view, or of one that has another definition now, by the sources it reads."""
        self._sources[output.name] = output.sources

    def note(self, view: str, reached: Reached) -> None:
        """Say that a view has been told this frontier."""
        self._told[view] = self._form(reached.offsets), clock.monotonic()

    def recall(self, view: str, told: Told) -> None:
        """Say that a view was told these offsets before this process began."""
        self._told[view] = told, -inf

    def is_due(self, view: str, reached: Reached) -> bool:
        """Whether a view that has not changed is to be told this frontier now."""
        if view not in self._told:
            return True
        told, at = self._told[view]
        if clock.monotonic() - at < self._seconds:
            return False
        return self._read_by(view, told) != self._read_by(view, self._form(reached.offsets))

    def due(self, views: Iterable[str], reached: Reached) -> list[str]:
        """Those of the views for which it is."""
        return [view for view in views if self.is_due(view, reached)]

    def forget(self, view: str) -> None:
        """Say that a view is published no more."""
        self._told.pop(view, None)
        self._sources.pop(view, None)

    def _read_by(self, view: str, told: Told) -> Told:
        """The part of these offsets that concerns a view."""
        sources, ends = self._sources.get(view), told.get("sources")
        if sources is None or ends is None:
            return told
        return {name: ends.get(name) for name in sources}

    def _form(self, offsets: Offsets) -> Told:
        """The offsets as they are told; one object for as long as they are the same."""
        if offsets is not self._offsets:
            form = offsets.told()
            self._offsets = offsets
            if form != self._as_told:
                self._as_told = form
        return self._as_told
