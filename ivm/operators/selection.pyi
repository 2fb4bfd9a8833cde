from collections.abc import Sequence

from ivm.operators.logic import Logic
from ivm.rows.format import Format
from ivm.rows.strings import Interner

class Selection(Logic):
    """The copies at positions `offset` to `offset + limit` (None: to the end).

    `format` is the ordered format of values; `strings` tells for each column whether it is one.
    """

    def __init__(
        self,
        format: Format,
        strings: Sequence[bool],
        offset: int,
        limit: int | None,
        interner: Interner,
    ) -> None: ...
