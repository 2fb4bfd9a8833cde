"""The installer of a pool: plans dataflows, builds them, and lets them catch up with the pool.

A dataflow that puts out little catches up between two steps. Any other one is hydrated beside
them: it runs on snapshots of the arrangements that it reads, takes what steps have added since,
again and again, and belongs to the pool as soon as little is left.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ivm.dataflow.nodes import Node
from ivm.errors import (
    BudgetExceeded,
    CountOverflow,
    DataflowFailed,
    OutOfMemory,
    UnknownCollection,
    out_of_memory,
)
from ivm.installed.assembly import Assembly
from ivm.installed.collection import Collection
from ivm.installed.core import Core
from ivm.installed.failures import failure_of
from ivm.operators.base.budget import Budget
from ivm.planner.cache import Plans
from ivm.results import Hydrating, Installed
from ivm.runtime.hydration import Hydration, catch_up, is_little
from ivm.runtime.loop import Loop
from ivm.runtime.schedule import StageFailed


class Installer:
    """Installs dataflows into the pool of `core`, as `Pool.install` says."""

    def __init__(self, core: Core, plans: Plans, shards: int) -> None:
        self._core = core
        self._plans = plans
        self._shards = shards
        self._under_way: tuple[str, Hydration] | None = None

    @property
    def hydrating(self) -> Hydrating | None:
        """The dataflow that catches up beside steps just now; there is one at most."""
        if (found := self._under_way) is None:
            return None
        name, hydration = found
        return Hydrating(name, *hydration.progress)

    def install(
        self, name: str, node: Node, key: Sequence[str] | None, budget: Budget | None
    ) -> Installed:
        """Maintain `node` as collection `name`; where its counts overflow, once more."""
        try:
            return self._install_anew(name, node, key, budget)
        except BudgetExceeded as exceeded:
            cause = str(exceeded)
        # Raised here, it remembers no frame that holds what was built, which is freed at once.
        raise BudgetExceeded(f"{name!r} was stopped: {cause}")

    def _install_anew(
        self, name: str, node: Node, key: Sequence[str] | None, budget: Budget | None
    ) -> Installed:
        with self._core.changing:
            try:
                return self._install(name, node, key, budget)
            except CountOverflow:
                # Copies that came and went may count at once in it, until batches are merged.
                if self._core.mesh is not None or not self.compact_sources(name, node, key):
                    raise
                return self._install(name, node, key, budget)

    def compact_sources(self, name: str, node: Node, key: Sequence[str] | None) -> bool:
        """Let what came and went in the sources of a dataflow cancel; whether there was any."""
        with self._core.gate:
            _, found = self._plans.of_dataflow(name, node, key)
            compacted = [index.trace.compact(self._core.last) for _, index in found]
            self._core.schedule.publish_all()
            return any(compacted)

    def _install(
        self, name: str, node: Node, key: Sequence[str] | None, budget: Budget | None
    ) -> Installed:
        core = self._core
        try:
            with core.gate:
                core.catalog.refuse_name(name)
                planned, found = self._plans.of_dataflow(name, node, key)
                causes = [piece.failure for piece, _ in found if piece.failure is not None]
                if core.agreement.any(bool(causes)):
                    raise failure_of(name, causes[0]) if causes else _failed_elsewhere(name)
                plan, now = planned.plan, core.last
                built = Assembly(plan, name, found, self._shards, core.interner, now)
                collection = Collection(
                    name,
                    built,
                    planned.rows,
                    planned.source(name),
                    reads=planned.reads,
                    insert_only=plan.only_grows,
                )
                if core.frontier == 0:
                    core.schedule.add(built.stages)
                    return self._attach(built, collection)
                alone = core.mesh is None  # members of a cluster cannot catch up beside steps
                if not alone or (plan.foreseeable and is_little(built.stages, built.readers)):
                    with _bounded(built, budget):
                        self._catch_up(name, built)
                    return self._attach(built, collection)
                parts = (built.stages, built.readers, built.shared)
                hydration = Hydration(*parts, core.frontier, budget)
                core.row_errors.come(collection, now)
                core.interner.open_snapshot()  # no string may go that only the new stages hold
            return self._hydrate(built, collection, hydration)
        except StageFailed as shortage:
            raise OutOfMemory(core.where(shortage, built.pieces)) from shortage
        except MemoryError as shortage:
            raise out_of_memory(f"dataflow {name!r}", shortage) from shortage

    def _catch_up(self, name: str, built: Assembly) -> None:
        """Let the pool run new stages, which have little to catch up with, between two steps."""
        core = self._core
        try:
            core.schedule.add(built.stages)
            catch_up(core.schedule, built.stages, built.readers, core.frontier)
            self._refuse_failed(name, built)
            core.schedule.publish(core.frontier - 1)
        except BaseException:
            core.schedule.remove(built.stages)
            raise

    def _hydrate(self, built: Assembly, collection: Collection, hydration: Hydration) -> Installed:
        """Catch up while the pool goes on, then belong to it; closes the snapshot of strings."""
        core = self._core
        self._under_way = collection.name, hydration
        try:
            hydration.begin()
            while True:
                with core.gate:
                    little = hydration.take(core.frontier)
                    if little:
                        hydration.go_on()
                        self._refuse_failed(collection.name, built)
                        hydration.attach()
                        self._refuse_lost(collection.name, built)
                        core.schedule.add(built.stages)
                        return self._attach(built, collection)
                hydration.go_on()
                self._refuse_failed(collection.name, built)
        finally:
            self._under_way = None
            core.row_errors.leave(collection)
            core.interner.close_snapshot()

    def _refuse_failed(self, name: str, built: Assembly) -> None:
        cause = built.failure
        if self._core.agreement.any(cause is not None):
            raise failure_of(name, cause) if cause is not None else _failed_elsewhere(name)

    def _refuse_lost(self, name: str, built: Assembly) -> None:
        if not self._core.catalog.has(built.found):
            raise UnknownCollection(
                f"a collection that {name!r} reads was dropped, since it failed. Install "
                f"{name!r} again over collections that are there"
            )

    def _attach(self, built: Assembly, collection: Collection) -> Installed:
        """Let others find a new dataflow's arrangements; the pool runs its stages already."""
        core = self._core
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


def _failed_elsewhere(name: str) -> DataflowFailed:
    """The error of a dataflow that has failed in another process of the cluster."""
    return DataflowFailed({name: "it failed in another process of the cluster"})


@contextmanager
def _bounded(built: Assembly, budget: Budget | None) -> Iterator[None]:
    """Let the loops of what is built take no longer than the budget, while it catches up.

    Members of a cluster tell one another that a loop has passed a bound; nothing else of a budget
    can end what they do together.
    """
    loops = [stage for stage in built.numbered if isinstance(stage, Loop)]
    before = [loop.max_seconds for loop in loops]
    try:
        if budget is not None:
            for loop in loops:
                loop.max_seconds = min(loop.max_seconds, budget.seconds)
        yield
    finally:
        for loop, seconds in zip(loops, before, strict=True):
            loop.max_seconds = seconds
