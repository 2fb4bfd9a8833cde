from collections.abc import Sequence
from typing import Any

from connectors.native.tokens import Scanner

_Field = tuple[str, int, Sequence[Any] | None, bool]

class Tree(Scanner):
    def __init__(self, fields: list[_Field], slots: int) -> None: ...
