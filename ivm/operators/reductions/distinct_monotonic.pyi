from ivm.operators.base.operator import Operator, Region
from ivm.operators.base.state_table import Groups
from ivm.rows.hashing import Partitioner

class DistinctMonotonic(Operator):
    """Emits each row of `source`, which only grows, once, from its least root time on."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        strings: tuple[tuple[int, bool], ...],
        partitioner: Partitioner,
    ) -> None: ...
    @property
    def groups(self) -> Groups: ...
