from typing import final

@final
class Calendar:
    """Holds items by times of `words` words."""

    def __init__(self, words: int) -> None: ...
