from typing import Any

class Contents:
    def __init__(self, contents: Any) -> None: ...
