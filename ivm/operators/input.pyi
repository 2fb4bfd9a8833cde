from ivm.operators.dealer import Dealer
from ivm.operators.operator import Region
from ivm.rows.hashing import Partitioner

class Input(Dealer):
    """Updates that were fed from outside, by time; in a Crossing by their owner as well."""

    def __init__(
        self, region: Region, row_words: int, partitioner: Partitioner | None = ...
    ) -> None: ...
