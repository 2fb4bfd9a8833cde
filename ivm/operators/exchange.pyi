from collections.abc import Iterable

from ivm.operators.operator import Operator, Region
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.strings import Interner

class Exchange(Operator):
    """The sum of all shards' sources, packed: the rows whose columns `key` a shard owns."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        sources: tuple[Operator, ...],
        negated: tuple[bool, ...],
        layout: Layout,
        key: Iterable[int],
        interner: Interner,
        packing: Packing,
    ) -> None: ...
