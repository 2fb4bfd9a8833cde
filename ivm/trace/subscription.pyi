from ivm.trace.spine import Trace

class Subscription:
    """Subscribes to `trace` from now on; make it between steps."""

    def __init__(self, trace: Trace) -> None: ...
    @property
    def trace(self) -> Trace: ...
