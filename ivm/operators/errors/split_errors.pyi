from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing

class Settling:
    """Packs keys and values of results into rows, and turns the other results into errors.

    `packing` makes a row of (key, value). An error names its key's row, of layout `named`, which
    `naming` makes of the key.
    """

    def __init__(
        self, packing: Packing, naming: Packing, named: Layout, interner: Interner
    ) -> None: ...
