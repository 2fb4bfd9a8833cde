from ivm.operators.operator import Operator, Reader, Region
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing
from ivm.rows.program import Program
from ivm.rows.strings import Interner

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
    """Takes apart rows of (key, error, value): errors, and `packing` of the others.

    An error names its key's row, of `named`, which `naming` makes of the key.
    """

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        key_words: int,
        packing: Packing,
        naming: Packing,
        named: Layout,
        interner: Interner,
    ) -> None: ...
