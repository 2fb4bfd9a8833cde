"""The mesh of a cluster, as the engine sees it: meetings of the processes that share its keys."""

from collections.abc import Sequence
from typing import Protocol


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
        they are at different ones. Raises an error where a member has gone.
        """
