from collections.abc import Iterable

from ivm.operators.operator import Operator, Region
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.strings import Interner

class Deal(Operator):
    """The rows of `source`, packed, apart by which of `shards` owns their columns `key`."""

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

class Exchange(Operator):
    """What all shards' `deals` have for the shard numbered `shard`."""

    def __init__(
        self, region: Region, row_words: int, deals: tuple[Operator, ...], shard: int
    ) -> None: ...
