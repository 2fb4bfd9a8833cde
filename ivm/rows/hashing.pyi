from collections.abc import Iterable

from ivm.rows.interner import Interner
from ivm.rows.layout import Layout

class Partitioner:
    """A partitioner gives the shard that owns a row of `layout`, by its columns `key` in order."""

    def __init__(self, layout: Layout, key: Iterable[int], interner: Interner) -> None: ...
