from ivm.operators.fallible import Evaluate
from ivm.operators.operator import Operator, Reader, Region
from ivm.rows.packing import Packing

class Join(Operator):
    """Pairs of `left` and `right`; `packing` makes a row from (key, left value, right value)."""

    def __init__(
        self, region: Region, row_words: int, left: Reader, right: Reader, packing: Packing
    ) -> None: ...
    def evaluated_by(self, evaluate: Evaluate) -> None:
        """Hand pairs to `evaluate`, which reads them, a vector at a time if it alone does."""
    @property
    def left(self) -> Reader: ...
    @property
    def right(self) -> Reader: ...
