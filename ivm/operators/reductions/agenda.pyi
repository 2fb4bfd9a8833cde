from typing import final

@final
class Agenda:
    """Holds items by times of `words` words."""

    def __init__(self, words: int) -> None: ...
