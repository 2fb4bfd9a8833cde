from ivm.operators.base.operator import Operator, Region
from ivm.rows.packing import Packing

class Project(Operator):
    """Emits each update of `source` with its row repacked by `packing`."""

    def __init__(
        self, region: Region, row_words: int, source: Operator, packing: Packing
    ) -> None: ...
