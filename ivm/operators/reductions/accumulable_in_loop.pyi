from typing import final

from ivm.operators.aggregates.linear import Accumulation
from ivm.operators.base.operator import Operator, Region
from ivm.operators.base.state_table import Groups
from ivm.operators.reductions.state_histories import StateHistories
from ivm.operators.reductions.sweeping import Sweeping
from ivm.rows.hashing import Partitioner

@final
class AccumulateInLoop(Sweeping):
    """Reduces each group of `source`, in a loop that is in no other, to key words and the output of
    `logic`.
    """

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        key_words: int,
        logic: Accumulation,
        strings: tuple[tuple[int, bool], ...],
        partitioner: Partitioner,
    ) -> None: ...
    @property
    def histories(self) -> StateHistories: ...
    @property
    def groups(self) -> Groups:
        """The table of keys."""
