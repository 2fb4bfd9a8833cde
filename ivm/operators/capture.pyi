from ivm.operators.operator import Operator, Reader, Region
from ivm.rows.packing import Packing

class Capture(Operator):
    """Holds what is new in an arrangement, rows made by `packing`, until it is drained."""

    def __init__(
        self, region: Region, row_words: int, reader: Reader, packing: Packing
    ) -> None: ...
    @property
    def reader(self) -> Reader: ...
