from ivm.operators.arranging.arrange import Sealing
from ivm.operators.base.operator import Operator, Region

class TemporalFilter(Sealing):
    """The rows of `source`, each one word of a moment and then a row, whose moment has come.

    `clocks` are the clock's shards: rows of one word, the present moment. The greatest so far
    counts, and before the first one nothing has come. `trace` holds what this shard has of the rows
    that have yet to come: nobody else reads it.
    """

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        clocks: tuple[Operator, ...],
        strings: tuple[tuple[int, bool], ...],
    ) -> None: ...
