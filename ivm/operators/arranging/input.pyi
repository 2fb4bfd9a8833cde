from ivm.operators.base.operator import Operator, Region

class Input(Operator):
    """Queues updates from outside until the frontier passes their times."""

    def __init__(self, region: Region, row_words: int) -> None: ...
