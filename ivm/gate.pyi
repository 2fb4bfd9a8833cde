from types import TracebackType

class Gate:
    """A re-entrant lock that nobody passes any more once `failure` says what went wrong.

    Entering it then raises PoolFailed. Compiled, since it is passed twice for each update.
    """

    failure: str
    def __init__(self) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
