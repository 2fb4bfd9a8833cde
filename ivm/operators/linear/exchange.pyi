from ivm.operators.base.operator import Operator, Region
from ivm.rows.hashing import Partitioner
from ivm.rows.packing import Packing

class Exchange(Operator):
    """The sum of all shards' sources, packed: the rows that a shard owns."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        sources: tuple[Operator, ...],
        negated: tuple[bool, ...],
        partitioner: Partitioner,
        packing: Packing,
        gathers: bool,
    ) -> None: ...
