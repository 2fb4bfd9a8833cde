from ivm.dataflow.nodes import RowFunction
from ivm.operators.base.operator import Operator, Region
from ivm.operators.errors.evaluate import Fallible
from ivm.rows.interner import Interner
from ivm.rows.layout import Layout

class FlatMap(Fallible):
    """Maps each row of `source` to any number of rows by a Python `function`.

    `function` takes rows of layout `given`, and answers rows of `wanted` with the index of the row
    that each comes from.
    """

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
