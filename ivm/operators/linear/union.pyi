from ivm.operators.base.operator import Operator, Region

class Union(Operator):
    """Adds up all `sources`; updates of those marked in `negated` change sign."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        sources: tuple[Operator, ...],
        negated: tuple[bool, ...],
    ) -> None: ...
