from collections.abc import Sequence

from ivm.rows.format import Format
from ivm.rows.interner import Interner

class Ordering:
    """The order of values in an ordered format; `strings` tells which columns hold strings."""

    def __init__(self, format: Format, strings: Sequence[bool], interner: Interner) -> None: ...
    @property
    def words(self) -> int: ...
    @property
    def exact(self) -> bool: ...
