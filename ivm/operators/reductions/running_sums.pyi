from ivm.operators.aggregates.linear import Accumulation
from ivm.operators.reductions.histories import Curves

class RunningSums:
    """Sums the groups of `curves`, histories in a loop of depth two, by `logic`."""

    def __init__(self, logic: Accumulation, curves: Curves) -> None: ...
