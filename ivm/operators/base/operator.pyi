from ivm.trace.spine import Trace

class Region:
    """The position of one scope; `depth` counts its times' coordinates."""

    def __init__(self, depth: int) -> None: ...
    @property
    def depth(self) -> int: ...

class Operator:
    """One shard of an operator in the scope of `region`; its output rows have `row_words` words."""

    def __init__(self, region: Region, row_words: int) -> None: ...

class Reader:
    """A reader's view of `trace`; while `catching_up`, all updates in the trace are new."""

    catching_up: bool
    def __init__(self, trace: Trace) -> None: ...
    @property
    def trace(self) -> Trace: ...
