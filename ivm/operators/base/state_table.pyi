from typing import final

@final
class Groups:
    """Keys of `key_words` words with states of `state_words` words; `strings` as of a Trace."""

    def __init__(
        self, key_words: int, state_words: int, strings: tuple[tuple[int, bool], ...]
    ) -> None: ...
    @property
    def strings(self) -> tuple[tuple[int, bool], ...]: ...
    def account(self) -> tuple[int, int]:
        """Groups held and bytes of memory; it may be called beside a step."""
