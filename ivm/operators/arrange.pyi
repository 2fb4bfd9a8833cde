from ivm.operators.operator import Operator, Region
from ivm.trace.trace import Trace

class Arrange(Operator):
    """Seals each activation's input as a batch of `trace`."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        key_words: int,
        strings: tuple[tuple[int, bool], ...],
    ) -> None: ...
    @property
    def trace(self) -> Trace: ...
