from ivm.operators.aggregates.collect import Gathering
from ivm.operators.aggregates.linear import Accumulation
from ivm.operators.windows.frames import Frame
from ivm.operators.windows.functions import WindowFunction
from ivm.rows.format import Place
from ivm.rows.interner import Interner

class FrameSum(WindowFunction):
    """Computes a count, sum or average over `frame`: `logic`, of this one aggregate."""

    def __init__(self, logic: Accumulation, frame: Frame, result: Place) -> None: ...

class FrameExtreme(WindowFunction):
    """Finds the greatest or least value `argument` in `frame`: `function` is `max` or `min`."""

    def __init__(
        self,
        function: str,
        frame: Frame,
        argument: Place,
        is_string: bool,
        interner: Interner,
        result: Place,
    ) -> None: ...

class FrameGathering(WindowFunction):
    """Gathers the values of `frame` in the order of its rows: `logic`, a list or a text of them."""

    def __init__(self, logic: Gathering, frame: Frame, result: Place) -> None: ...
