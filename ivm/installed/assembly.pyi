from collections.abc import Sequence

from ivm.dataflow.nodes import Arrange
from ivm.installed.pieces import Index, Piece
from ivm.operators.arranging.capture import Capture
from ivm.operators.arranging.input import Input
from ivm.operators.base.operator import Reader
from ivm.physical.plan import PhysicalPlan
from ivm.results import Installed
from ivm.rows.interner import Interner
from ivm.runtime.stage import Stage
from ivm.trace.spine import Trace

class Assembly:
    """What `plan` makes, as `name`, of what was `found`; its constants are there from `now` on.

    `pieces` are the new ones, the collection's own last, and `stages` the root's, upstream first;
    `arrangements` are the new ones, and `result`, with its piece, has the collection's rows; it is
    None if none has.
    """

    def __init__(
        self,
        plan: PhysicalPlan,
        name: str,
        found: Sequence[tuple[Piece, Index]],
        shards: int,
        interner: Interner,
        now: int,
    ) -> None: ...
    @property
    def plan(self) -> PhysicalPlan: ...
    @property
    def found(self) -> Sequence[tuple[Piece, Index]]: ...
    @property
    def stages(self) -> list[Stage]: ...
    @property
    def numbered(self) -> list[Stage]:
        """Those of all depths, by their numbers in the plan."""

    @property
    def readers(self) -> list[Reader]:
        """Those of all operators."""

    @property
    def shared(self) -> list[Trace]:
        """The traces of what was found, each once."""

    @property
    def pieces(self) -> list[Piece]: ...
    @property
    def piece(self) -> Piece:
        """The collection's own."""

    @property
    def arrangements(self) -> dict[Arrange, tuple[Piece, Index]]: ...
    @property
    def result(self) -> tuple[Piece, Index] | None: ...
    @property
    def inputs(self) -> tuple[Input, ...]:
        """The operators of the first stage."""

    @property
    def captures(self) -> tuple[Capture, ...]:
        """What keeps the collection's changes, if anything does."""

    @property
    def failure(self) -> tuple[str, float | None, str | None, int | None] | None:
        """Why one of its stages failed, as `Stage.failure` says; None if none has."""

    @property
    def installed(self) -> Installed:
        """What was found and what was made, by name."""
