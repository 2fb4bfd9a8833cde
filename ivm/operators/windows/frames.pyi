import pyarrow as pa

from ivm.rows.format import Place

class Frame:
    """The frame `unit` BETWEEN `start` AND `end`, as in `ivm.dataflow.nodes.Frame`.

    `place` is the position of the order's first column in values, of type `type_`; both None
    without one.
    """

    def __init__(
        self,
        unit: str,
        start: int | float | None,
        end: int | float | None,
        place: Place | None,
        type_: pa.DataType | None,
    ) -> None: ...
    @property
    def by_rows(self) -> bool: ...
    @property
    def by_range(self) -> bool: ...
    @property
    def open_start(self) -> bool: ...
    @property
    def open_end(self) -> bool: ...
