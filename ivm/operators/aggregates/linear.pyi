from collections.abc import Sequence

import pyarrow as pa

from ivm.dataflow.aggregates import Aggregate
from ivm.operators.aggregates.aggregate import Logic
from ivm.rows.format import Format

class Accumulation(Logic):
    """Accumulates `aggregates` over the columns of `fields`, which lie in `source` (an ordered
    format).

    The output is one word for an error (`overflow`, a string's word) and the results in the
    ordered format `target`. Raises Unsupported.
    """

    def __init__(
        self,
        aggregates: Sequence[Aggregate],
        fields: Sequence[pa.Field],
        source: Format,
        target: Format,
        overflow: int,
    ) -> None: ...
    @property
    def state_words(self) -> int: ...
