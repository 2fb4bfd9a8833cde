from ivm.operators.base.operator import Operator, Region
from ivm.trace.spine import Trace

class Sealing(Operator):
    """Seals updates as batches of `trace`."""

    @property
    def trace(self) -> Trace: ...

class Arrange(Sealing):
    """Seals each activation's input, of all shards, as a batch of `trace`."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        sources: tuple[Operator, ...],
        key_words: int,
        strings: tuple[tuple[int, bool], ...],
    ) -> None: ...
