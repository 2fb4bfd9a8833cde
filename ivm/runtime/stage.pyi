from ivm.operators.base.mesh import Mesh
from ivm.operators.base.operator import Operator, Region

class Stage:
    """`operators`: one for each shard, or a single one."""

    def __init__(self, operators: tuple[Operator, ...]) -> None: ...
    @property
    def operators(self) -> tuple[Operator, ...]: ...
    @property
    def mesh(self) -> Mesh | None:
        """By which it meets its like in other processes; None if it does not."""

    @property
    def tells_rows(self) -> bool:
        """Whether its rows in `work` are those that it puts out."""

    @property
    def work(self) -> tuple[int, int, int, int, int | None]:
        """Rows put out and nanoseconds; both of the last timed step, and that step's first time."""

    @property
    def bytes(self) -> int:
        """The bytes that its operators hold, to be asked for between two steps."""

    @property
    def outer(self) -> Region:
        """The scope that it belongs to."""

    @property
    def failure(self) -> tuple[str, float | None, str | None, int | None] | None:
        """Why it failed, if it has: a cause, a number, and the name of a binding.

        ("rounds", bound, None) for too many rounds, and likewise "updates", "seconds", "bytes" and
        "process"; ("limit", bound, None) for more rounds than the loop's own limit; ("overflow",
        round, name) where a count left 64 bits, with None outside of loops.
        """

class Crossing(Stage):
    """A stage whose operators, all Exchanges, hand rows to each other."""
