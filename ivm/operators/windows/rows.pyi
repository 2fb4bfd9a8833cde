class Stretch:
    """Holds rows in order; rows whose values agree in their first `order_words` words are peers."""

    def __init__(self, order_words: int) -> None: ...
