from typing import final

from ivm.operators.aggregates.aggregate import Logic
from ivm.operators.base.operator import Operator, Region
from ivm.operators.reductions.histories import Curves
from ivm.operators.reductions.sweeping import Sweeping
from ivm.rows.hashing import Partitioner

@final
class Reduce(Sweeping):
    """Reduces each group of `source` to key words, then the output words of `logic`."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        key_words: int,
        logic: Logic,
        strings: tuple[tuple[int, bool], ...],
        partitioner: Partitioner,
    ) -> None: ...
    @property
    def curves(self) -> Curves: ...
