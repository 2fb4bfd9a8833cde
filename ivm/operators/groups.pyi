class Groups:
    """Keys of `key_words` words with states of `state_words` words."""

    def __init__(self, key_words: int, state_words: int) -> None: ...
    def account(self) -> tuple[int, int]:
        """Groups held and bytes of memory."""
