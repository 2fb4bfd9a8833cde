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

    def unmerged(self) -> int:
        """Updates of the published batches but for the largest, into which merges move them."""

    def compact(self, since: int) -> bool:
        """Sum all batches, between two steps, as of root time `since`, unless they are large.

        Returns whether they were. Afterwards no two updates of a row are there whose times no
        handle tells apart.
        """

    def close(self) -> None:
        """Close the trace to writers: it is released once no handle is left.

        Nothing may be sealed afterwards.
        """
