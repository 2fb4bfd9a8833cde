from ivm.operators.accumulation import Accumulation
from ivm.operators.groups import Groups
from ivm.operators.operator import Operator, Region

class Accumulate(Operator):
    """Key words, then the output words of `logic`, for each group of `source`."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        key_words: int,
        logic: Accumulation,
        strings: tuple[tuple[int, bool], ...],
    ) -> None: ...
    @property
    def groups(self) -> Groups: ...
