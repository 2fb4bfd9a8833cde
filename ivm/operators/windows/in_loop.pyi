from ivm.operators.aggregates.aggregate import Logic
from ivm.operators.aggregates.ordering import Ordering
from ivm.operators.windows.functions import WindowFunction

class WindowLogic(Logic):
    """Puts out value words, 0 or an error's word, and `result_words` words of results for each row.

    Values are in the format of `ordering`; the calls order by its first `order_words` words.
    """

    def __init__(
        self,
        ordering: Ordering,
        order_words: int,
        functions: tuple[WindowFunction, ...],
        result_words: int,
    ) -> None: ...
