from typing import final

from ivm.operators.base.state_table import Groups

@final
class Curves:
    """Holds the input's history of every key."""

    def __init__(
        self,
        key_words: int,
        words: int,
        said_words: int,
        time_words: int,
        strings: tuple[tuple[int, bool], ...],
    ) -> None: ...
    @property
    def groups(self) -> Groups: ...
    @property
    def strings(self) -> tuple[tuple[int, bool], ...]: ...
    def account(self) -> tuple[int, int]:
        """Updates held and bytes of memory, as of the last step; it may be called beside one."""
