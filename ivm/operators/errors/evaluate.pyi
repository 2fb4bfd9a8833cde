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
    """Filters and maps the new updates of an arrangement by `program`; `packing` makes its rows."""

    def __init__(
        self, region: Region, row_words: int, reader: Reader, packing: Packing, program: Program
    ) -> None: ...
    @property
    def reader(self) -> Reader: ...

class Settle(Fallible):
    """Splits rows of (key, error, value) into rows and errors by `settling`."""

    def __init__(
        self, region: Region, row_words: int, source: Operator, key_words: int, settling: Settling
    ) -> None: ...
