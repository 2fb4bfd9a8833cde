from ivm.operators.base.operator import Operator, Region

class Consolidate(Operator):
    """Emits the updates of `source`, consolidated."""

    def __init__(self, region: Region, row_words: int, source: Operator) -> None: ...
