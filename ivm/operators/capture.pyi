from ivm.operators.operator import Operator, Region

class Capture(Operator):
    """Holds the updates of `source` until they are drained."""

    def __init__(self, region: Region, row_words: int, source: Operator) -> None: ...
