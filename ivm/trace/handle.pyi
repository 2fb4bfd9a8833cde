from ivm.trace.frontier import Antichain
from ivm.trace.spine import Trace

class Handle:
    """A reader of `trace` as of the frontier `since`, by default all that can still be read."""

    def __init__(self, trace: Trace, since: Antichain | None = None) -> None: ...
    @property
    def trace(self) -> Trace: ...
    @property
    def since(self) -> Antichain:
        """The hold; empty once it was given up."""

    def advance(self, since: Antichain) -> None:
        """Move the hold on to `since`; the empty frontier gives it up."""
