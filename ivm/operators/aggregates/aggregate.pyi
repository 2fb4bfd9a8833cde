from ivm.operators.aggregates.ordering import Ordering

class Logic:
    """A logic is a function from a group's values to its output values."""

    @property
    def out_words(self) -> int: ...
    @property
    def ordering(self) -> Ordering | None: ...
    @property
    def wanted(self) -> int: ...
