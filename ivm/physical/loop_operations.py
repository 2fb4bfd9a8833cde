"""Operations of loops: entry, variables and feedback, and the result of all rounds."""

from dataclasses import dataclass
from typing import ClassVar

from ivm.operators.loops.loop import Collect as CollectOperator
from ivm.operators.loops.loop import Enter as EnterOperator
from ivm.operators.loops.loop import EnterAt as EnterAtOperator
from ivm.operators.loops.loop import Feedback as FeedbackOperator
from ivm.operators.loops.loop import Leave as LeaveOperator
from ivm.operators.loops.loop import Variable as VariableOperator
from ivm.physical.operation import Names, Operation
from ivm.physical.scopes import Planned
from ivm.rows.packing import Packing


@dataclass(frozen=True)
class LoopOperation:
    """A loop over `names`, whose times have `depth` coordinates, until nothing changes.

    It `grows` if its names only ever gain rows.
    """

    names: tuple[str, ...]
    depth: int
    rounds: int
    grows: bool
    puts_out_what_it_reads: ClassVar[bool] = False

    def text(self, names: Names) -> str:
        """The work in words."""
        grows = ", rows only come" if self.grows else ""
        over = f"over {', '.join(self.names)} at depth {self.depth}"
        return f"{over}, at most {self.rounds:,} rounds{grows}"


@dataclass(frozen=True)
class Enter(Operation, makes=EnterOperator, puts_out_what_it_reads=False):
    """Rows from outside of a loop, in its first round."""

    source: Planned

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source,)

    def text(self, names: Names) -> str:
        return str(self.source)


@dataclass(frozen=True)
class EnterAt(Operation, makes=EnterAtOperator, puts_out_what_it_reads=False):
    """Rows from outside of a loop, in the first round of the priority in their last column."""

    source: Planned
    packing: Packing
    word: int

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.packing, self.word)

    def text(self, names: Names) -> str:
        return f"{self.source} by their last column"


@dataclass(frozen=True)
class Variable(Operation, makes=VariableOperator, puts_out_what_it_reads=False):
    """A recursive name of a loop: its rows in this round."""

    name: str

    @property
    def arguments(self) -> tuple[object, ...]:
        return ()

    def text(self, names: Names) -> str:
        return self.name


@dataclass(frozen=True)
class Feedback(Operation, makes=FeedbackOperator, puts_out_what_it_reads=False):
    """The rows of a body for its variable in the next round, of `rounds` at most if not None."""

    source: Planned
    variable: Planned
    rounds: int | None

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source, self.variable, self.rounds)

    def text(self, names: Names) -> str:
        stops = "" if self.rounds is None else f", which stops after {self.rounds:,} rounds"
        return f"{self.source} to {self.variable}{stops}"


@dataclass(frozen=True)
class Collect(Operation, makes=CollectOperator, puts_out_what_it_reads=False):
    """A loop's result, of all rounds."""

    source: Planned

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source,)

    def text(self, names: Names) -> str:
        return str(self.source)


@dataclass(frozen=True)
class Leave(Operation, makes=LeaveOperator, puts_out_what_it_reads=False):
    """A loop's result outside of it."""

    source: Planned

    @property
    def arguments(self) -> tuple[object, ...]:
        return (self.source,)

    def text(self, names: Names) -> str:
        return str(self.source)
