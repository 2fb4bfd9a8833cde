from types import TracebackType

class Lock:
    """A re-entrant lock, as a context; whoever waits for it lets other threads run Python."""

    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

class Gate(Lock):
    """A lock that nobody passes any more once `failure` says what went wrong.

    Entering it then raises PoolFailed.
    """

    failure: str
    def __init__(self) -> None: ...
    def try_enter(self) -> bool:
        """Take it if it is free and nothing went wrong; whether it is now to be left."""

    def leave(self) -> None:
        """Give back what `try_enter` took."""

class Both:
    """Two locks as one context, taken in this order."""

    def __init__(self, first: Lock, second: Gate) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
