from typing import final

@final
class Trace:
    """An arrangement: key, value and time widths are in words."""

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
        """Say that only handles read on: without any, or once the last is dropped, all is released.

        Nothing may be sealed afterwards.
        """
