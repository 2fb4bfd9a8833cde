from ivm.operators.base.operator import Operator, Region
from ivm.rows.hashing import Partitioner
from ivm.rows.packing import Packing

class Exchange(Operator):
    """Sends every row of the sum of `sources`, packed, to the shard that owns its key."""

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
