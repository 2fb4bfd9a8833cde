from ivm.operators.base.operator import Operator, Region

class Stage:
    """`operators`: one for each shard, or a single one."""

    def __init__(self, operators: tuple[Operator, ...]) -> None: ...
    @property
    def operators(self) -> tuple[Operator, ...]: ...
    @property
    def outer(self) -> Region:
        """The scope that it belongs to."""

class Crossing(Stage):
    """A stage whose operators, all Dealers, hand rows to each other."""

class Loop(Stage):
    """A stage of scope `outer` made of `stages`: those of the loop's body, in order."""

    def __init__(
        self,
        outer: Region,
        region: Region,
        stages: tuple[Stage, ...],
        max_rounds: int,
        max_updates: int,
    ) -> None: ...
    @property
    def region(self) -> Region: ...
    @property
    def stages(self) -> tuple[Stage, ...]: ...
    @property
    def max_rounds(self) -> int: ...
    @property
    def max_updates(self) -> int: ...
    @property
    def failed(self) -> bool:
        """Whether it did not converge within `max_rounds` and `max_updates`."""
