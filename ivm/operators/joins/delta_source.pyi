from ivm.operators.base.flatten import Flatten
from ivm.operators.base.operator import Reader, Region
from ivm.rows.packing import Packing

class Changes(Flatten):
    """The new updates of `reader`, unless a relation of `later` was empty before."""

    def __init__(
        self,
        region: Region,
        row_words: int,
        reader: Reader,
        packing: Packing,
        later: tuple[Reader, ...],
    ) -> None: ...
