from ivm.operators.base.operator import Operator, Region
from ivm.rows.interner import Interner
from ivm.runtime.bounds import Bounds

class Stage:
    """`operators`: one for each shard, or a single one."""

    def __init__(self, operators: tuple[Operator, ...]) -> None: ...
    @property
    def operators(self) -> tuple[Operator, ...]: ...
    @property
    def outer(self) -> Region:
        """The scope that it belongs to."""

    @property
    def failure(self) -> tuple[str, float | None, str | None] | None:
        """Why it failed, if it has: a cause, a number, and the name of a binding.

        ("rounds", bound, None) for too many rounds, and likewise "updates", "seconds", "bytes" and
        "process"; ("limit", bound, None) for more rounds than the loop's own limit; ("overflow",
        round, name) where a count left 64 bits, with None outside of loops.
        """

class Crossing(Stage):
    """A stage whose operators, all Dealers, hand rows to each other."""

class Loop(Stage):
    """A stage of scope `outer` made of `stages`: those of the loop's body, in order."""

    def __init__(
        self,
        outer: Region,
        region: Region,
        stages: tuple[Stage, ...],
        names: tuple[str, ...],
        max_rounds: int,
        limited: bool,
        bounds: Bounds,
        interner: Interner | None,
    ) -> None: ...
    @property
    def region(self) -> Region: ...
    @property
    def stages(self) -> tuple[Stage, ...]: ...
    @property
    def max_rounds(self) -> int: ...
    @property
    def limited(self) -> bool:
        """Whether `max_rounds` is its own limit, and not the pool's."""

    @property
    def max_updates(self) -> int: ...
    @property
    def max_bytes(self) -> int: ...
    @property
    def max_process_bytes(self) -> int: ...
    @property
    def max_seconds(self) -> float: ...
    @property
    def names(self) -> tuple[str, ...]:
        """The names of the bindings that the `stages` belong to."""
