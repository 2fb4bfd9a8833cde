import pyarrow as pa

from ivm.dataflow.aggregates import End
from ivm.rows.format import Place
from ivm.rows.interner import Interner

class Measure:
    """The column at `place`, of type `type_`, and the ends of a frame by distance in it."""

    def __init__(
        self, start: End, end: End, place: Place, type_: pa.DataType, interner: Interner
    ) -> None: ...
