from ivm.operators.aggregates.linear import Accumulation
from ivm.operators.base.operator import Operator, Reader, Region
from ivm.operators.base.state_table import Groups
from ivm.operators.errors.evaluate import Fallible
from ivm.operators.errors.split_errors import Settling
from ivm.rows.hashing import Partitioner
from ivm.rows.packing import Packing

class Accumulate(Fallible):
    """Reduces each group of `source` to a row, made by `settling` of its key and the output of
    `logic`.
    """

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        partitioner: Partitioner,
        key_words: int,
        logic: Accumulation,
        strings: tuple[tuple[int, bool], ...],
        settling: Settling,
    ) -> None: ...
    @property
    def groups(self) -> Groups: ...

class AccumulateNew(Accumulate):
    """Accumulates the new updates of an arrangement, of which `packing` makes rows of key and
    value.

    `by_key` says that the arrangement's keys are those of the groups.
    """

    def __init__(
        self,
        region: Region,
        row_words: int,
        reader: Reader,
        packing: Packing,
        by_key: bool,
        partitioner: Partitioner,
        key_words: int,
        logic: Accumulation,
        strings: tuple[tuple[int, bool], ...],
        settling: Settling,
    ) -> None: ...
    @property
    def reader(self) -> Reader: ...
