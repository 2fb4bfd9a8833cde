from ivm.operators.aggregates.aggregate import Logic
from ivm.operators.base.operator import Operator, Reader, Region
from ivm.operators.base.state_table import Groups
from ivm.rows.hashing import Partitioner

class Select(Operator):
    """Reduces each group of `reader`'s trace to key words, then the output words of `logic`."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        reader: Reader,
        partitioner: Partitioner,
        logic: Logic,
    ) -> None: ...
    @property
    def debts(self) -> Groups: ...
    @property
    def reader(self) -> Reader: ...
    def account(self) -> tuple[int, int]:
        """Values in rankings, and bytes of memory of these and of the groups' debts."""
