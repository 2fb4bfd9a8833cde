from typing import final

@final
class Trace:
    """A trace is a spine of batches; key, value and time widths are in words."""

    def __init__(
        self,
        key_words: int,
        val_words: int,
        time_words: int,
        strings: tuple[tuple[int, bool], ...],
    ) -> None: ...
    @property
    def strings(self) -> tuple[tuple[int, bool], ...]: ...
    @property
    def key_words(self) -> int: ...
    @property
    def val_words(self) -> int: ...
    @property
    def time_words(self) -> int: ...
    def account(self) -> tuple[int, int]:
        """Updates held and bytes of memory of the published batches."""

    def close(self) -> None:
        """Close the trace to writers: it is released once no handle is left.

        Nothing may be sealed afterwards.
        """
