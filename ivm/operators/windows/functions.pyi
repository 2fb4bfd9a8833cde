from ivm.rows.format import Place

class WindowFunction:
    """One call of a window function, whose result lies at a place among all results."""

    @property
    def asks_peers(self) -> bool: ...
    @property
    def asks_head(self) -> bool: ...
    @property
    def state_words(self) -> int: ...

class Numbering(WindowFunction):
    """Numbers rows by `function`, a "number" of `window_kind` but for `ntile`."""

    def __init__(self, function: str, result: Place) -> None: ...

class Buckets(WindowFunction):
    """Numbers `count` buckets of rows, or as many as the column at `varies` says: ntile."""

    def __init__(self, count: int, varies: Place | None, invalid: int, result: Place) -> None: ...
