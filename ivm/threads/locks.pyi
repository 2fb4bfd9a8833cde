from types import TracebackType

class Lock:
    """A re-entrant lock, as a context manager; a thread that waits for it releases the GIL."""

    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...

class Gate(Lock):
    """A gate is a lock that closes for good on a failure.

    Once `failure` is not empty, entering raises PoolFailed with that text.
    """

    failure: str
    def __init__(self) -> None: ...
    def try_enter(self) -> bool:
        """Take the lock if it is free and has not failed; True if `leave` must follow."""

    def leave(self) -> None:
        """Release the lock that `try_enter` took."""

class Both:
    """Two locks as one context manager, taken in this order."""

    def __init__(self, first: Lock, second: Gate) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
