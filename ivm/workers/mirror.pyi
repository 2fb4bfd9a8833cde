from ivm.trace.trace import Trace

class Mirror:
    """A mirror of `shared` as of now; make it, and call `take`, between the pool's steps."""

    def __init__(self, shared: Trace) -> None: ...
    @property
    def trace(self) -> Trace:
        """The mirror, for readers."""

    @property
    def shared(self) -> Trace: ...
    def take(self) -> int:
        """Make what was sealed since the last call the mirror's fresh batch; its updates."""
