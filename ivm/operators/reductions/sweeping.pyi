from ivm.operators.base.operator import Operator, Region
from ivm.rows.hashing import Partitioner

class Sweeping(Operator):
    """Sweeps the rounds of a loop, and reduces the rows of `source` by a key of `key_words`
    words.
    """

    def __init__(
        self, region: Region, source: Operator, key_words: int, partitioner: Partitioner
    ) -> None: ...
