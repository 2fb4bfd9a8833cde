from types import TracebackType

class Naming:
    """A context that raises what runs out of memory within as OutOfMemory, by `kind` and `name`."""

    def __init__(self, kind: str, name: str) -> None: ...
    def __enter__(self) -> None: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None: ...
