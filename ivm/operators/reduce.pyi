from ivm.operators.logic import Logic
from ivm.operators.operator import Operator, Reader, Region
from ivm.trace.trace import Trace

class Reduce(Operator):
    """Key words, then the output words of `logic`, for each group of `reader`'s trace."""

    def __init__(self, region: Region, row_words: int, reader: Reader, logic: Logic) -> None: ...
    @property
    def outputs(self) -> Trace: ...
    @property
    def reader(self) -> Reader: ...
