from typing import final

from ivm.operators.aggregates.linear import Accumulation
from ivm.operators.base.state_table import Groups

@final
class StateHistories:
    """Holds histories of the states of `logic` by keys of `key_words` words, of which `strings`
    hold strings.
    """

    def __init__(
        self, key_words: int, logic: Accumulation, strings: tuple[tuple[int, bool], ...]
    ) -> None: ...
    @property
    def groups(self) -> Groups: ...
    def account(self) -> tuple[int, int]:
        """Entries held and bytes of memory, as of the last step; it may be called beside one."""
