from ivm.operators.base.operator import Operator, Region

class Input(Operator):
    """Updates that were fed from outside, by time."""

    def __init__(self, region: Region, row_words: int) -> None: ...
