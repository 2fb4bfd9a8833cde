from collections.abc import Iterable

from ivm.rows.interner import Interner
from ivm.rows.layout import Layout

class Partitioner:
    """Says which shard owns a row of `layout`: by its columns `key`, in that order."""

    def __init__(self, layout: Layout, key: Iterable[int], interner: Interner) -> None: ...
