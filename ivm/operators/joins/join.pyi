from typing import final

from ivm.operators.base.operator import Operator, Reader, Region
from ivm.rows.packing import Packing

@final
class Join(Operator):
    """Joins `left` and `right`; `packing` makes a row from (key, left value, right value)."""

    def __init__(
        self, region: Region, row_words: int, left: Reader, right: Reader, packing: Packing
    ) -> None: ...
    @property
    def left(self) -> Reader: ...
    @property
    def right(self) -> Reader: ...
