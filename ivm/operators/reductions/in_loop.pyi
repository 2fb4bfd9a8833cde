from typing import final

from ivm.operators.aggregates.aggregate import Logic
from ivm.operators.base.operator import Operator, Region
from ivm.operators.reductions.histories import Curves
from ivm.rows.hashing import Partitioner

@final
class Reduce(Operator):
    """Key words, then the output words of `logic`, for each group of `source`."""

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
