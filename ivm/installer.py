"""The installer of a pool: plans dataflows, builds them, and lets them catch up with the pool.

A dataflow that puts out little catches up between two steps. Any other one is hydrated beside
them: it runs on snapshots of the arrangements that it reads, takes what steps have added since,
again and again, and belongs to the pool as soon as little is left.
"""

from collections.abc import Sequence
from contextlib import closing

from ivm.dataflow.nodes import Node
from ivm.errors import BudgetExceeded, CountOverflow, OutOfMemory, out_of_memory
from ivm.installed.assembly import Assembly
from ivm.installed.collection import Collection
from ivm.installed.core import Core
from ivm.installed.failures import failure_of
from ivm.installed.filling import Filling, attached
from ivm.operators.base.budget import Budget
from ivm.planner.cache import Plans
from ivm.results import Hydrating, Installed
from ivm.runtime.hydration import catch_up, is_little
from ivm.runtime.schedule import StageFailed


class Installer:
    """Installs dataflows into the pool of `core`, as `Pool.install` says."""

    def __init__(self, core: Core, plans: Plans, shards: int) -> None:
        self._core = core
        self._plans = plans
        self._shards = shards
        self._under_way: tuple[str, Filling] | None = None

    @property
    def hydrating(self) -> Hydrating | None:
        """The dataflow that catches up beside steps just now; there is one at most."""
        if (found := self._under_way) is None:
            return None
        name, filling = found
        return Hydrating(name, *filling.progress)

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
                if not self.compact_sources(name, node, key):
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
        begun = self.begin(name, node, key, budget)
        if isinstance(begun, Installed):
            return begun
        self._under_way = name, begun
        try:
            with closing(begun):
                begun.catch_up()
                while (installed := begun.take()) is None:
                    begun.catch_up()
                return installed
        finally:
            self._under_way = None

    def begin(
        self, name: str, node: Node, key: Sequence[str] | None, budget: Budget | None
    ) -> Installed | Filling:
        """Install a dataflow that puts out little; any other one is to be filled."""
        core = self._core
        try:
            with core.gate:
                core.catalog.refuse_name(name)
                planned, found = self._plans.of_dataflow(name, node, key)
                causes = [piece.failure for piece, _ in found if piece.failure is not None]
                if core.agreement.any(bool(causes)):
                    raise failure_of(name, causes[0] if causes else None)
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
                    return attached(core, built, collection)
                little = plan.foreseeable and is_little(built.stages, built.readers)
                if core.agreement.any(not little):
                    return Filling(core, built, collection, budget)
                self._catch_up(name, built)
                return attached(core, built, collection)
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
            cause = built.failure
            if core.agreement.any(cause is not None):
                raise failure_of(name, cause)
            core.schedule.publish(core.frontier - 1)
        except BaseException:
            core.schedule.remove(built.stages)
            raise
