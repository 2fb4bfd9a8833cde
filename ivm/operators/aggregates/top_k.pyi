from ivm.operators.aggregates.aggregate import Logic
from ivm.operators.aggregates.ordering import Ordering

class TopK(Logic):
    """Selects the copies at positions `offset` to `offset + limit` (None: to the end) of
    `ordering`.
    """

    def __init__(self, ordering: Ordering, offset: int, limit: int | None) -> None: ...
