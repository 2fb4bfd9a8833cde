from collections.abc import Sequence

from ivm.rows.format import Format
from ivm.rows.interner import Interner

class Ordering:
    """Orders values of an ordered format; `strings` marks the columns of strings."""

    def __init__(self, format: Format, strings: Sequence[bool], interner: Interner) -> None: ...
    @property
    def words(self) -> int: ...
    @property
    def exact(self) -> bool: ...
