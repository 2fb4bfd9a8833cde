from typing import final

@final
class Calendar:
    """Items at times of `words` words."""

    def __init__(self, words: int) -> None: ...
