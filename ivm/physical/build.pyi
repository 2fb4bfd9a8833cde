from collections.abc import Callable, Iterable

from ivm.operators.base.operator import Operator, Reader
from ivm.rows.interner import Interner
from ivm.runtime.bounds import Bounds
from ivm.runtime.loop import Loop
from ivm.runtime.stage import Stage
from ivm.trace.spine import Trace

class Argument:
    """Stands in a plan for what an operator is made with, in each building and shard another."""

class Source(Argument):
    """The operator of stage `stage` in the same shard."""

    def __init__(self, stage: int) -> None: ...
    @property
    def stage(self) -> int: ...

class Every(Argument):
    """The operators of stage `stage` in all shards, as a tuple."""

    def __init__(self, stage: int) -> None: ...
    @property
    def stage(self) -> int: ...

class TracePlan:
    """An arrangement's trace: what was found, or what stage `stage` seals."""

    def __init__(self, *, stage: int = -1, slot: int = -1) -> None: ...
    @property
    def stage(self) -> int: ...
    @property
    def slot(self) -> int: ...

class Read(Argument):
    """A new view of an arrangement's trace."""

    def __init__(self, trace: TracePlan) -> None: ...
    @property
    def found(self) -> bool:
        """Whether the trace is there before the plan is built."""

class Several(Argument):
    """What each of `arguments` stands for, as a tuple."""

    def __init__(self, arguments: Iterable[Argument]) -> None: ...

class New(Argument):
    """What `make` makes: for state that no two operators may share."""

    def __init__(self, make: Callable[[], object]) -> None: ...

class StagePlan:
    """Operators of type `kind`, made with a region, the `words` of a row, and then `arguments`."""

    def __init__(
        self, kind: type[Operator], region: int, words: int, arguments: tuple[object, ...]
    ) -> None: ...
    @property
    def kind(self) -> type[Operator]: ...
    @property
    def region(self) -> int: ...
    @property
    def words(self) -> int: ...
    @property
    def arguments(self) -> tuple[object, ...]: ...
    @property
    def reads(self) -> list[int]:
        """The stages that it reads, or whose traces, by number."""

    @property
    def slots(self) -> list[int]:
        """The slots of what was found whose traces it reads."""

class WholePlan(StagePlan):
    """A single operator for all shards."""

class CrossingPlan(StagePlan):
    """Operators that hand rows to each other: Exchanges."""

class MeetingPlan(StagePlan):
    """An operator that hands rows to its like in other processes: a Scatter."""

class LoopPlan(StagePlan):
    """A loop in region `outer` whose `body` lists the numbers of its stages, in region `region`.

    `names` says for each of these which binding it is of, and `limited` whether `max_rounds` is
    the loop's own limit. The other `bounds` are the pool's.
    """

    def __init__(
        self,
        outer: int,
        region: int,
        body: Iterable[int],
        names: Iterable[str],
        max_rounds: int,
        limited: bool,
        bounds: Bounds,
        interner: Interner | None,
    ) -> None: ...
    @property
    def outer(self) -> int: ...
    @property
    def body(self) -> tuple[int, ...]: ...
    @property
    def reads(self) -> list[int]:
        """The stages of its body, by number."""

class Building:
    """What is made of the stages `planned`, in their order, in regions of such `depths`."""

    def __init__(
        self,
        depths: list[int],
        planned: list[StagePlan],
        found: list[Trace],
        shards: int,
    ) -> None: ...
    @property
    def operators(self) -> list[tuple[Operator | Loop, ...]]:
        """Of each stage one for each shard, or one for all; or the loop that it is."""

    @property
    def stages(self) -> list[Stage]: ...
    @property
    def readers(self) -> list[Reader]: ...
