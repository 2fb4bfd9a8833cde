from collections.abc import Iterable

from ivm.operators.operator import Operator, Region
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.strings import Interner

class Exchange(Operator):
    """Shard `shard`'s rows of all shards' `sources`, by a hash of the columns `key`."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        sources: tuple[Operator, ...],
        layout: Layout,
        key: Iterable[int],
        interner: Interner,
        packing: Packing,
        shard: int,
    ) -> None: ...
