from connectors.native.tokens import Scanner

class Line(Scanner):
    def __init__(
        self, delimiter: bytes, quote: bytes, null: bytes, places: list[int], slots: int
    ) -> None: ...
