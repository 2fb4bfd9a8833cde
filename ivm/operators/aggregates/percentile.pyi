from ivm.operators.aggregates.aggregate import Logic
from ivm.operators.aggregates.ordering import Ordering
from ivm.rows.format import Format

class Percentile(Logic):
    """The percentile `fraction` of the one column of `source`, the ordered format of `ordering`.

    NULL comes last. The output is in the same format; `continuous` takes float64 values.
    """

    def __init__(
        self, ordering: Ordering, source: Format, fraction: float, continuous: bool
    ) -> None: ...
