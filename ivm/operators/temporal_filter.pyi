from ivm.operators.arranging.arrange import Sealing
from ivm.operators.base.operator import Operator, Region

class TemporalFilter(Sealing):
    """Emits the rows of `source` whose moment has come; each is one word of a moment and then a
    row.

    `clocks` are the clock's shards: rows of one word, the present moment. The greatest so far
    counts, and before the first one no moment has come. `trace` holds this shard's rows whose
    moment is to come; no other operator reads it.
    """

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        clocks: tuple[Operator, ...],
        strings: tuple[tuple[int, bool], ...],
    ) -> None: ...
