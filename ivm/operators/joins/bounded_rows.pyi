from ivm.operators.base.operator import Operator, Reader, Region
from ivm.rows.packing import Packing

class BoundedRows(Operator):
    """Emits the rows of `reader`'s trace that are above a bound, or below one, as often as there
    are such bounds.

    The trace's key is the value that is compared. `bounds` are the stages of all shards that give
    the bounds, rows of the key's words. A row that equals its bound counts if `equal`. `packing`
    makes a row from (key, value).
    """

    def __init__(
        self,
        region: Region,
        row_words: int,
        reader: Reader,
        bounds: tuple[Operator, ...],
        above: bool,
        equal: bool,
        packing: Packing,
    ) -> None: ...
    @property
    def reader(self) -> Reader: ...
