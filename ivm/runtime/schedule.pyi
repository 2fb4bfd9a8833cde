from collections.abc import Iterable

from ivm.operators.base.budget import Budget
from ivm.runtime.stage import Stage

class StageFailed(MemoryError):
    """Memory was too short for `stage`, one of a schedule's."""

    stage: Stage

    def __init__(self, stage: Stage, reason: str) -> None: ...

class Schedule:
    """Stages in order, of which a step runs those that something new has reached.

    With a `budget`, a step ends where that is used up, with BudgetExceeded.
    """

    def __init__(self, budget: Budget | None = None) -> None: ...
    @property
    def published(self) -> int:
        """The time as of which readers see the stages' traces, or -1."""

    @property
    def passed(self) -> int:
        """The number of stages that the present or last step has passed; read from any thread."""

    @property
    def recursive(self) -> bool:
        """Whether any stage is a loop."""

    @property
    def troubled(self) -> bool:
        """Whether a stage that ran has met an error of a row, or a loop its bound."""

    def add(self, stages: Iterable[Stage]) -> None:
        """Append stages, upstream first: all, or none where memory is short."""

    def remove(self, stages: Iterable[Stage]) -> None:
        """Forget stages; nothing that stays may read them."""

    def run(self, lower: int, upper: int) -> int:
        """Run to completion at times from `lower` to below `upper` (raises StageFailed)."""

    def catch_up(self, stages: list[Stage], lower: int, upper: int) -> int:
        """Run stages that were just added, and find what they read (raises StageFailed)."""

    def publish_all(self) -> int:
        """Let readers see what all stages have sealed."""

    def publish(self, time: int) -> None:
        """Let readers see what the stages that ran have sealed, and all traces as of `time`."""

    def cut(self, times: int, upper: int) -> int:
        """The frontier, at most `upper`, before which lie at most `times` times of each input."""
