class Logic:
    """A function from a group's values to its output values, of `out_words` words."""

    @property
    def out_words(self) -> int: ...
    @property
    def selects(self) -> bool: ...
