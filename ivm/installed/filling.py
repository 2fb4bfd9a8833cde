"""Filling: a dataflow catches up with the pool, while that goes on, and then belongs to it.

Members of a cluster fill a dataflow together, by meetings of their own: so steps need not wait, and
what one of them cannot go on with all of them leave.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from ivm.errors import OutOfMemory, UnknownCollection, out_of_memory
from ivm.installed.assembly import Assembly
from ivm.installed.collection import Collection
from ivm.installed.core import Core
from ivm.installed.failures import failure_of
from ivm.operators.base.budget import Budget
from ivm.operators.base.mesh import MeetingLeft
from ivm.results import Installed
from ivm.runtime.hydration import Hydration
from ivm.runtime.meeting import meet_over
from ivm.runtime.schedule import StageFailed


class Filling:
    """The `collection` that was `built` for the pool of `core`, while it catches up; close it.

    Make it between two steps. `catch_up` runs beside steps and `take` between two, in turn, until
    that says what was installed. Both raise DataflowFailed, BudgetExceeded and OutOfMemory; then
    nothing is left but to close it.
    """

    def __init__(
        self, core: Core, built: Assembly, collection: Collection, budget: Budget | None
    ) -> None:
        self._core = core
        self._built = built
        self._collection = collection
        self._has_begun = False
        beside = core.beside
        if beside.mesh is not None:
            meet_over(beside.mesh, built.stages)
        parts = (built.stages, built.readers, built.shared)
        self._hydration = Hydration(*parts, core.frontier, beside, budget)
        core.row_errors.come(collection, core.last)
        core.interner.open_snapshot()  # no string may go that only the new stages hold

    @property
    def progress(self) -> tuple[int, int]:
        """The number of stages that have taken all that the arrangements held, and of all stages.

        Any thread may ask.
        """
        return self._hydration.progress

    def catch_up(self) -> None:
        """Take all that the arrangements held, and later what `take` has taken over."""
        built = self._built
        with self._together():
            if self._has_begun:
                self._hydration.go_on()
            else:
                self._hydration.begin()
            self._has_begun = True
            cause = built.failure
            has_failed = self._core.beside.any(cause is not None)
        if has_failed:
            raise failure_of(self._collection.name, cause)

    def take(self) -> Installed | None:
        """Take over what steps have sealed meanwhile.

        Where that is little, the dataflow catches up with it at once, and is one of the pool's.
        """
        core, built = self._core, self._built
        with core.gate:
            with self._together():
                is_last = self._hydration.take(core.frontier)
            if not is_last:
                return None
            self.catch_up()
            with self._telling_shortage():
                self._hydration.attach()
                self._refuse_lost()
                if core.agreement.mesh is not None:
                    meet_over(core.agreement.mesh, built.stages)
                core.schedule.add(built.stages)
                return attached(core, built, self._collection)

    def close(self) -> None:
        """Hold nothing any more that only this needed."""
        self._core.row_errors.leave(self._collection)
        self._core.interner.close_snapshot()

    @contextmanager
    def _together(self) -> Iterator[None]:
        """Let all members leave what one of them leaves, with its error."""
        try:
            with self._telling_shortage():
                yield
        except MeetingLeft:
            raise failure_of(self._collection.name, None) from None
        except BaseException:
            self._core.beside.leave()
            raise

    @contextmanager
    def _telling_shortage(self) -> Iterator[None]:
        """Say what memory was too short for."""
        try:
            yield
        except StageFailed as shortage:
            raise OutOfMemory(self._core.where(shortage, self._built.pieces)) from shortage
        except MemoryError as shortage:
            raise out_of_memory(f"dataflow {self._collection.name!r}", shortage) from shortage

    def _refuse_lost(self) -> None:
        if not self._core.catalog.has(self._built.found):
            name = self._collection.name
            raise UnknownCollection(
                f"a collection that {name!r} reads was dropped, since it failed. Install "
                f"{name!r} again over collections that are there"
            )


def attached(core: Core, built: Assembly, collection: Collection) -> Installed:
    """Let others find a new dataflow's arrangements; the pool runs its stages already."""
    try:
        core.catalog.add(collection, built)
        errors, last = core.row_errors, core.last
        if built.plan.fallible or errors.standing:
            errors.begin(collection, built.pieces, last, core.catalog.collections.values())
    except BaseException:
        core.schedule.remove(built.stages)
        core.remove(collection.name)
        raise
    return built.installed
