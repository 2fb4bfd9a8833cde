from collections.abc import Sequence

import pyarrow as pa

from connectors.sinks.native.cells import Cells

def lines(cells: Sequence[Cells], count: int) -> list[bytes]: ...
def column(cells: Sequence[Cells], count: int) -> pa.Array: ...
