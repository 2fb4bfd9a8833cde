from ivm.operators.base.budget import Budget
from ivm.operators.base.operator import Reader
from ivm.runtime.agreement import Agreement
from ivm.runtime.schedule import Schedule
from ivm.runtime.stage import Stage
from ivm.trace.spine import Trace

AT_ONCE: int
"""Updates that are caught up with while the pool stands still."""

LITTLE: int
"""Updates that stages may put out to be hydrated between two steps, without mirrors."""

TIMES_AT_ONCE: int
"""Times of each arrangement that a recursion takes at once: it tries the joins of a key's times."""

def is_little(stages: list[Stage], readers: list[Reader]) -> bool:
    """Whether `stages`, of a foreseeable plan, put out little for all that their `readers` hold."""

def catch_up(schedule: Schedule, stages: list[Stage], readers: list[Reader], frontier: int) -> None:
    """Run `stages`, just added to `schedule`, on all that their `readers` hold.

    What they put out is at the last time before `frontier`. Raises StageFailed.
    """

class Hydration:
    """The catching up of `stages`, whose `readers` read traces of their own and `shared` ones.

    Make it between two steps of the pool, and call `take` and `attach` there; `begin` and `go_on`
    may be called beside them. Afterwards the stages are complete for all times below `upto`.
    Members of a cluster do all of it alike, by their `agreement`.
    """

    def __init__(
        self,
        stages: list[Stage],
        readers: list[Reader],
        shared: list[Trace],
        frontier: int,
        agreement: Agreement,
        budget: Budget | None = None,
    ) -> None: ...
    @property
    def upto(self) -> int: ...
    @property
    def progress(self) -> tuple[int, int]:
        """The number of stages that have taken all that the arrangements held, and of all stages.

        Any thread may ask.
        """

    def begin(self) -> None:
        """Run on all that the arrangements held (raises StageFailed, BudgetExceeded)."""

    def take(self, frontier: int) -> bool:
        """Take over what was sealed below `frontier` since; whether it should be the last time."""

    def go_on(self) -> None:
        """Run on what was taken over (raises StageFailed, BudgetExceeded)."""

    def attach(self) -> None:
        """Read the shared arrangements from now on."""
