from ivm.trace.trace import Trace

class Mirror:
    """A mirror of `shared` as of now; make it, and call `take`, between the pool's steps."""

    def __init__(self, shared: Trace) -> None: ...
    @property
    def trace(self) -> Trace:
        """The mirror, for readers."""

    def take(self) -> int:
        """Take over what was sealed since the last call; its updates."""

    def after(self, times: int, upper: int) -> int:
        """The frontier, at most `upper`, before which at most `times` times wait."""

    def pass_on(self, upper: int) -> None:
        """Make the times below `upper` that wait the mirror's fresh batch."""
