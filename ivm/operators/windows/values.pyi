from ivm.operators.windows.frames import Frame
from ivm.operators.windows.functions import WindowFunction
from ivm.rows.format import Place

class _Picked(WindowFunction): ...

class Neighbour(_Picked):
    """Takes the value so many rows `ahead` (back, if negative), or else the row's `default`.

    The number is `ahead`, or `ahead` times the value of the column at `varies`.
    """

    def __init__(
        self,
        ahead: int,
        varies: Place | None,
        skips_nulls: bool,
        argument: Place,
        default: Place | None,
        result: Place,
    ) -> None: ...

class FrameValue(_Picked):
    """Takes the value `argument` of the first, last or `count`-th row of `frame`: a "pick"."""

    def __init__(
        self,
        function: str,
        count: int,
        varies: Place | None,
        skips_nulls: bool,
        frame: Frame,
        argument: Place,
        invalid: int,
        result: Place,
    ) -> None: ...
