from ivm.operators.base.operator import Operator, Reader, Region
from ivm.rows.packing import Packing

class Capture(Operator):
    """Holds updates until they are drained."""

    @property
    def is_empty(self) -> bool:
        """Whether nothing was captured since the last drain."""

class CaptureRows(Capture):
    """Captures the output of `source`."""

    def __init__(self, region: Region, row_words: int, source: Operator) -> None: ...

class CaptureArranged(Capture):
    """Captures the new updates of an arrangement, rows made by `packing`."""

    def __init__(
        self, region: Region, row_words: int, reader: Reader, packing: Packing
    ) -> None: ...
    @property
    def reader(self) -> Reader: ...
