from ivm.operators.aggregates.linear import Accumulation
from ivm.operators.windows.frames import Frame
from ivm.rows.format import Place
from ivm.rows.interner import Interner

class WindowFunction:
    """One call of a window function, whose result lies at a place among all results."""

    @property
    def asks_peers(self) -> bool: ...
    @property
    def asks_head(self) -> bool: ...
    @property
    def state_words(self) -> int: ...

class Numbering(WindowFunction):
    """Numbers rows by `function`, a "number" of `window_kind`; `count` buckets of ntile."""

    def __init__(self, function: str, count: int, result: Place) -> None: ...

class Neighbour(WindowFunction):
    """Takes the value so many rows `ahead` (back, if negative), or else the row's `default`."""

    def __init__(
        self, ahead: int, argument: Place, default: Place | None, result: Place
    ) -> None: ...

class FrameValue(WindowFunction):
    """Takes the value `argument` of the first, last or `count`-th row of `frame`: a "pick"."""

    def __init__(
        self, function: str, count: int, frame: Frame, argument: Place, result: Place
    ) -> None: ...

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
