from ivm.trace.frontier import Antichain
from ivm.trace.spine import Trace

class Handle:
    """A reader of `trace` as of the frontier `since`, by default all that can still be read."""

    def __init__(self, trace: Trace, since: Antichain | None = None) -> None: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def since(self) -> Antichain:
        """The logical hold; empty once the reader reads no more."""

    def advance(self, since: Antichain) -> None:
        """Move the logical hold on to `since`; to the empty frontier: give it up."""
