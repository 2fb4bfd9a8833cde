"""Hydration: a new dataflow catches up with the pool, which goes on meanwhile.

The new stages read mirrors of the shared arrangements and belong to no schedule but their own, so
that they can run in the thread that installs them while other threads complete times: the small
steps of other dataflows do not wait for the hydration of a large one. First all that the
arrangements held is new; then, in ever shorter rounds, what was sealed meanwhile. Once little is
left, or rounds do not get shorter, the rest is done between two steps of the pool, and the stages
read the shared arrangements from then on.
"""

import math
from collections.abc import Iterable

from ivm.operators.operator import Reader
from ivm.trace.trace import Trace
from ivm.workers.mirror import Mirror
from ivm.workers.schedule import Schedule
from ivm.workers.stage import Stage

AT_ONCE = 10_000
"""Updates that are caught up with while the pool stands still."""

TIMES_AT_ONCE = 16
"""Times of each arrangement that a recursion takes at once: it tries the joins of a key's times."""


class Hydration:
    """The catching up of `stages`, whose `readers` read traces of their own and `shared` ones.

    Make it between two steps of the pool, and call `take` and `attach` there; `begin` and `go_on`
    may be called beside them. Afterwards the stages are complete for all times below `upto`.
    """

    def __init__(
        self, stages: Iterable[Stage], readers: Iterable[Reader], own: set[Trace], frontier: int
    ) -> None:
        self.upto = self._from = frontier
        self._taken: float = math.inf
        self._schedule = Schedule()
        self._schedule.add(stages)
        self._readers = list(readers)
        foreign = dict.fromkeys(r.trace for r in self._readers if r.trace not in own)
        self._mirrors = {trace: Mirror(trace) for trace in foreign}
        self._followers = [
            (reader, self._mirrors[reader.trace])
            for reader in self._readers
            if reader.trace in self._mirrors
        ]
        for reader, mirror in self._followers:
            reader.read_from(mirror.trace)

    def begin(self) -> None:
        """Run on all that the arrangements held (raises StageFailed)."""
        for reader in self._readers:
            reader.catching_up = True
        self._schedule.run(max(self.upto - 1, 0), self.upto, all=True)
        for reader in self._readers:
            reader.catching_up = False

    def take(self, frontier: int) -> bool:
        """Take over what was sealed below `frontier` since; whether it should be the last time.

        It is if that is little, and if it is not much less than the time before: then the pool
        goes on faster than the dataflow can follow, and must wait for it.
        """
        self.upto = frontier
        before, self._taken = self._taken, sum([m.take() for m in self._mirrors.values()])
        return self._taken <= AT_ONCE or 2 * self._taken > before

    def go_on(self) -> None:
        """Run on what was taken over (raises StageFailed)."""
        mirrors = self._mirrors.values()
        while self._from < self.upto:
            upper = self.upto
            if self._schedule.recursive:
                upper = min((m.after(TIMES_AT_ONCE, upper) for m in mirrors), default=upper)
            for mirror in mirrors:
                mirror.pass_on(upper)
            self._schedule.run(self._from, upper, all=True)
            self._from = upper

    def attach(self) -> None:
        """Read the shared arrangements from now on."""
        for reader, mirror in self._followers:
            reader.read_from(mirror.shared)
        self._schedule.publish_all()
