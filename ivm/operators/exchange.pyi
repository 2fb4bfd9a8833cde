from collections.abc import Iterable

from ivm.operators.operator import Operator, Region
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.strings import Interner

class Exchange(Operator):
    """The rows of all shards' sources, packed, whose columns `key` one of `shards` owns."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        layout: Layout,
        key: Iterable[int],
        interner: Interner,
        packing: Packing,
        shards: int,
    ) -> None: ...
