from ivm.trace.spine import Trace
from ivm.trace.subscription import Subscription

class Mirror(Subscription):
    """A mirror of the trace `shared` as of now: `own`, for readers.

    Make it, and call `take_over`, between the pool's steps.
    """

    def __init__(self, shared: Trace) -> None: ...
    @property
    def own(self) -> Trace: ...
    def take_over(self) -> int:
        """Take over what was sealed since the last call; its updates."""

    def after(self, times: int, upper: int) -> int:
        """The frontier, at most `upper`, before which at most `times` times wait."""

    def pass_on(self, upper: int) -> None:
        """Make the times below `upper` that wait the mirror's fresh batch."""
