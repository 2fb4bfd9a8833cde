from ivm.dataflow import RowFunction
from ivm.operators.fallible import Fallible
from ivm.operators.operator import Operator, Region
from ivm.rows.layout import Layout
from ivm.rows.strings import Interner

class FlatMap(Fallible):
    """What `function` makes of each row of `source`, whose layout is `given`; it answers rows of
    `wanted` and, for each, the index of the row that it comes from."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        source: Operator,
        function: RowFunction,
        given: Layout,
        wanted: Layout,
        interner: Interner,
    ) -> None: ...
