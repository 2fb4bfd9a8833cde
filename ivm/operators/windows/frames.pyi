from ivm.operators.windows.measures import Measure

class Frame:
    """The frame `unit` BETWEEN `start` AND `end` without `exclude`.

    They are as in `ivm.dataflow.aggregates.Frame`; `measure` is that of the two distances of a
    range, or None.
    """

    def __init__(
        self,
        unit: str,
        start: object,
        end: object,
        exclude: str,
        measure: Measure | None,
    ) -> None: ...
    @property
    def by_rows(self) -> bool: ...
    @property
    def by_range(self) -> bool: ...
    @property
    def open_start(self) -> bool: ...
    @property
    def open_end(self) -> bool: ...
    @property
    def excludes(self) -> bool: ...
    @property
    def asks_peers(self) -> bool: ...
    @property
    def measure(self) -> Measure | None: ...
