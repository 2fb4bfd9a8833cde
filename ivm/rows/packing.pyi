from collections.abc import Iterable, Sequence

from ivm.rows.format import Format
from ivm.rows.interner import Interner

class Packing:
    """Target column i is column `picks[i][1]` of source `picks[i][0]`."""

    def __init__(
        self,
        sources: Sequence[Format],
        picks: Iterable[tuple[int, int]],
        target: Format,
        interner: Interner | None = None,
    ) -> None: ...
    @property
    def words(self) -> int: ...
    @property
    def identity(self) -> bool: ...
