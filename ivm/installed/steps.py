"""Steps: run the dataflows of a pool on what was fed, and drop those that fail.

A step completes several times at once: without recursion all below the frontier, with it few, since
a loop runs its rounds for all of them together.
"""

from ivm.errors import DataflowFailed, OutOfMemory, TimeInPast
from ivm.installed.core import Core
from ivm.installed.failures import failures, together
from ivm.runtime.hydration import TIMES_AT_ONCE


class Steps:
    """Moves the frontier of the pool of `core`, while its gate is held."""

    def __init__(self, core: Core) -> None:
        self._core = core

    def advance(self, frontier: int) -> None:
        """Complete every time below `frontier`, as `Pool.advance` says."""
        core = self._core
        if frontier < core.frontier:
            raise TimeInPast(f"frontier {frontier} is behind the frontier {core.frontier}")
        if frontier == core.frontier:
            return
        failed: list[DataflowFailed] = []
        try:
            while core.frontier < frontier:
                if (failure := self._step(frontier)) is not None:
                    failed.append(failure)
        except MemoryError as shortage:
            where = core.where(shortage, core.catalog.living)
            core.gate.failure = f"a step did not complete: {where}"
            raise OutOfMemory(core.gate.failure) from shortage
        except BaseException as error:  # an interrupt, or an error that is not foreseen
            core.gate.failure = f"a step did not complete: {error!r}"
            raise
        if failed:
            raise together(failed)

    def _step(self, frontier: int) -> DataflowFailed | None:
        """Complete as many times below `frontier` as are worth doing together.

        The dataflows that cannot be kept up to date are dropped, as the error says.
        """
        core = self._core
        upper = frontier
        if core.schedule.recursive:
            upper = core.agreement.least(core.schedule.cut(TIMES_AT_ONCE, frontier))
        core.schedule.run(core.frontier, upper)
        core.frontier = upper
        troubled = core.schedule.troubled
        if core.agreement.mesh is not None:  # a pool alone is spared the call
            troubled = core.agreement.any(troubled)
        failed = self._settle_troubles() if troubled else None
        if core.strings.many:
            core.strings.release()
        core.schedule.publish(upper - 1)
        return failed

    def _settle_troubles(self) -> DataflowFailed | None:
        """Hand errors of rows to the dataflows, and drop those that failed."""
        core = self._core
        core.row_errors.keep_from(core.holds.earliest)
        for piece in core.catalog.living:
            core.row_errors.take(piece, core.catalog.collections.values())
        failed = failures(core.catalog.collections)
        reasons = {} if failed is None else failed.reasons
        gone = core.agreement.all_of(reasons)
        for name in [name for name in core.catalog.collections if name in gone]:
            core.remove(name)
        return failed
