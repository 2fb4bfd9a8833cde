"""Which pieces live: those that an input or a dataflow needs, directly or through other pieces."""

from collections.abc import Iterator

from ivm.render.pieces import Piece


class Living:
    """Living pieces in the order in which they were first needed.

    Each is counted by the collections and living pieces that need it directly, so that what comes
    and goes costs as much as its own pieces, however many others there are.
    """

    def __init__(self) -> None:
        self._users: dict[Piece, int] = {}

    def __iter__(self) -> Iterator[Piece]:
        return iter(self._users)

    def __contains__(self, piece: Piece) -> bool:
        return piece in self._users

    def add(self, piece: Piece) -> None:
        """Let one collection more need `piece`."""
        pending = [piece]
        while pending:
            piece = pending.pop()
            if piece not in self._users:
                self._users[piece] = 0
                pending += piece.needs
            self._users[piece] += 1

    def drop(self, piece: Piece) -> list[Piece]:
        """Let one collection less need `piece`: the pieces that nothing needs any more."""
        unused, pending = [], [piece]
        while pending:
            piece = pending.pop()
            self._users[piece] -= 1
            if self._users[piece] == 0:
                del self._users[piece]
                unused.append(piece)
                pending += piece.needs
        return unused
