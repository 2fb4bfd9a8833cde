class Budget:
    """Bounds on a hydration that begins now: `seconds`, and `bytes` by which the process may grow.

    Once the process has `process_bytes` in memory, a hydration ends in which it has grown.
    """

    def __init__(
        self, seconds: float = ..., *, bytes: int = ..., process_bytes: int = ...
    ) -> None: ...
    @property
    def seconds(self) -> float: ...
    @property
    def bytes(self) -> int: ...
    @property
    def process_bytes(self) -> int: ...
    def stop(self) -> None:
        """End the hydration at its next look, from any thread."""
