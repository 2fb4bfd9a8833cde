from ivm.operators.groups import Groups

class Curves:
    """Input and output histories by key."""

    def __init__(
        self,
        key_words: int,
        in_words: int,
        out_words: int,
        time_words: int,
        strings: tuple[tuple[int, bool], ...],
        selects: bool,
    ) -> None: ...
    @property
    def groups(self) -> Groups: ...
    @property
    def in_strings(self) -> tuple[tuple[int, bool], ...]: ...
    @property
    def out_strings(self) -> tuple[tuple[int, bool], ...]: ...
    def account(self) -> tuple[int, int]:
        """Keys held and bytes of memory."""
