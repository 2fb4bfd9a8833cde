from ivm.expressions.program import Program
from ivm.operators.base.operator import Operator, Reader, Region
from ivm.operators.errors.split_errors import Settling
from ivm.rows.packing import Packing

class Fallible(Operator):
    """An operator with an error collection beside its output."""

class Evaluate(Fallible):
    """Filters and maps each update of `source` by `program`."""

    def __init__(
        self, region: Region, row_words: int, source: Operator, program: Program
    ) -> None: ...

class EvaluateNew(Fallible):
    """Filters and maps by `program` what is new in an arrangement; `packing` makes its rows."""

    def __init__(
        self, region: Region, row_words: int, reader: Reader, packing: Packing, program: Program
    ) -> None: ...
    @property
    def reader(self) -> Reader: ...

class Settle(Fallible):
    """Takes apart rows of (key, error, value) by `settling`."""

    def __init__(
        self, region: Region, row_words: int, source: Operator, key_words: int, settling: Settling
    ) -> None: ...
