from collections.abc import Iterator

from ivm.installed.pieces import Piece

class Living:
    """Living pieces in the order in which they were first needed."""

    def __init__(self) -> None: ...
    def __iter__(self) -> Iterator[Piece]: ...
    def __contains__(self, piece: Piece, /) -> bool: ...
    def add(self, piece: Piece) -> int:
        """Let one collection more need `piece`."""

    def drop(self, piece: Piece) -> list[Piece]:
        """Let one collection less need `piece`: the pieces that nothing needs any more."""
