from collections.abc import Callable
from typing import TypeVar

_Of = TypeVar("_Of")
_Answer = TypeVar("_Answer")

class Hashed:
    """A base of frozen dataclasses, made with `eq=False`, that hash and compare by structure."""

    def __hash__(self) -> int: ...
    def __eq__(self, other: object, /) -> bool: ...

def remembered(ask: Callable[[_Of], _Answer]) -> Callable[[_Of], _Answer]:
    """Make `ask`, whose answer depends on a node alone, be asked once of each node."""
