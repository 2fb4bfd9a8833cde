class Stretch:
    """Rows in order; those whose values agree in their first `order_words` words are peers."""

    def __init__(self, order_words: int) -> None: ...
