from connectors.native.tokens import Scanner

class Program(Scanner):
    def __init__(self, steps: list[tuple[str, int, int, list[int]]], slots: int) -> None: ...
