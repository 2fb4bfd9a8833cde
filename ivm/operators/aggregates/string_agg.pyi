from ivm.operators.aggregates.collect import Gathering

class StringAgg(Gathering):
    """Joins texts with `separator` between them."""

    def __init__(self, *gathered: object, separator: bytes) -> None: ...
