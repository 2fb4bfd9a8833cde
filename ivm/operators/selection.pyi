from ivm.operators.logic import Logic
from ivm.operators.ordering import Ordering

class Selection(Logic):
    """The copies at positions `offset` to `offset + limit` (None: to the end) of `ordering`."""

    def __init__(self, ordering: Ordering, offset: int, limit: int | None) -> None: ...
