from ivm.rows.interner import Interner
from ivm.rows.layout import Layout
from ivm.rows.packing import Packing

class Settling:
    """Makes rows of keys and results by `packing` of (key, value); the others are errors.

    An error names its key's row, of `named`, which `naming` makes of the key.
    """

    def __init__(
        self, packing: Packing, naming: Packing, named: Layout, interner: Interner
    ) -> None: ...
