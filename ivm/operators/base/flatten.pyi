from ivm.operators.base.operator import Operator, Reader, Region
from ivm.rows.packing import Packing

class Flatten(Operator):
    """Emits the new updates of a trace as rows that `packing` makes from (key, value)."""

    def __init__(
        self, region: Region, row_words: int, reader: Reader, packing: Packing
    ) -> None: ...
    @property
    def reader(self) -> Reader: ...
