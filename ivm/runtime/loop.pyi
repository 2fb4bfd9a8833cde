from ivm.operators.base.operator import Region
from ivm.rows.interner import Interner
from ivm.runtime.bounds import Bounds
from ivm.runtime.stage import Stage

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
    def rounds_run(
        self,
    ) -> tuple[int, int, int, int, int, list[tuple[int, int | None, int, int]]]:
        """Rounds in all, most of a step, the last ever; those of the last step, by class too.

        A class of rounds has its first and last one, how many ran, and the changes that they began
        with.
        """

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
