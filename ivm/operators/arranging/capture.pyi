from ivm.operators.base.operator import Operator, Reader, Region
from ivm.rows.packing import Packing

class Capture(Operator):
    """Holds what is new until it is drained."""

class CaptureRows(Capture):
    """What `source` puts out."""

    def __init__(self, region: Region, row_words: int, source: Operator) -> None: ...

class CaptureArranged(Capture):
    """What is new in an arrangement, rows made by `packing`."""

    def __init__(
        self, region: Region, row_words: int, reader: Reader, packing: Packing
    ) -> None: ...
    @property
    def reader(self) -> Reader: ...
