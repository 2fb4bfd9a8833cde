from ivm.operators.aggregates.ordering import Ordering
from ivm.operators.base.operator import Reader, Region
from ivm.operators.base.state_table import Groups
from ivm.operators.reductions.ordered_walk import OrderedWalk
from ivm.operators.windows.functions import WindowFunction
from ivm.rows.hashing import Partitioner

class Window(OrderedWalk):
    """Puts out key, value, 0 or an error's word, and `result_words` words of results for each row.

    Values are in the format of `ordering`; the calls order by its first `order_words` words.
    """

    def __init__(
        self,
        region: Region,
        row_words: int,
        reader: Reader,
        partitioner: Partitioner,
        ordering: Ordering,
        order_words: int,
        functions: tuple[WindowFunction, ...],
        result_words: int,
    ) -> None: ...
    @property
    def totals(self) -> Groups: ...
