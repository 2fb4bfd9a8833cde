from ivm.operators.base.operator import Operator, Reader, Region
from ivm.rows.packing import Packing

class Lookup(Operator):
    """Emits, for each update of `source`, the updates of `reader`'s trace with the same key."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        reader: Reader,
        packing: Packing,
        older: bool,
        before: Operator | None,
    ) -> None: ...
    @property
    def reader(self) -> Reader: ...
