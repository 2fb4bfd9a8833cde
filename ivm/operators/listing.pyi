import pyarrow as pa

from ivm.operators.logic import Logic
from ivm.operators.ordering import Ordering
from ivm.rows.format import Format
from ivm.rows.strings import Interner

class Listing(Logic):
    """The first column of `source`, the ordered format of `ordering`, as a list of type `type`.

    The output is one word for an error (`too_long`, a string's word) and the list in the ordered
    format `target`. With `distinct` each value is taken once.
    """

    def __init__(
        self,
        ordering: Ordering,
        source: Format,
        target: Format,
        type: pa.DataType,
        distinct: bool,
        too_long: int,
        interner: Interner,
    ) -> None: ...
