from ivm.dataflow.nodes import RowFunction
from ivm.operators.base.operator import Operator, Region
from ivm.operators.errors.evaluate import Fallible
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout

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
