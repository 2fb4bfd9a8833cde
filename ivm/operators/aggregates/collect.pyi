from ivm.operators.aggregates.aggregate import Logic
from ivm.operators.aggregates.ordering import Ordering
from ivm.rows.format import Format
from ivm.rows.interner import Interner

class Gathering(Logic):
    """Collects column `column` of values in `source`, the ordered format of `ordering`.

    Only rows where the boolean column `where` is true count (-1: all). `target` is the output's
    ordered format of one column, and `too_long` the word of the error's message.
    """

    def __init__(
        self,
        ordering: Ordering,
        source: Format,
        column: int,
        where: int,
        target: Format,
        too_long: int,
        interner: Interner,
    ) -> None: ...
