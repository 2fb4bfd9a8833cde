from ivm.operators.base.operator import Operator, Region
from ivm.rows.hashing import Partitioner

class Own(Operator):
    """Keeps the rows of `source` whose owner among `members` processes is number `member`."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        partitioner: Partitioner,
        member: int,
        members: int,
    ) -> None: ...
