"""The mesh of a cluster, as the engine sees it: meetings of the processes that share its keys."""

from collections.abc import Sequence
from typing import Protocol


class MeetingLeft(Exception):
    """A member cannot go on with what all of them are at, and has left it."""


class Mesh(Protocol):
    """A member's meetings with the others, which come to the same meetings in the same order."""

    member: int
    """The number of this process among the `members`, from 0."""
    members: int

    def meet(
        self, place: int, value: int, blocks: Sequence[bytes] | None
    ) -> tuple[int, Sequence[memoryview]]:
        """Say `value` to all, with a block for each (None: none), and hear the others.

        Returns the least value that a member said, and the blocks that the others sent, which hold
        until the next meeting. `place` is a number of the meeting, by which members find out that
        they are at different ones. Raises MeetingLeft where one has left, and an error where one
        has gone.
        """

    def leave(self) -> None:
        """Leave what all are at, whatever meeting comes next: at that one the others leave it."""
