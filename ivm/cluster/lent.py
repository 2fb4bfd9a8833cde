"""Lent things: holds and batches that stay with members, as their cluster has them."""

from collections.abc import Callable, Iterator, Sequence
from types import TracebackType
from typing import Self
from weakref import finalize

from ivm.cluster.lending import Lent, Rows

GiveBack = Callable[[int, int], None]
"""Gives what a member, by number, has lent under another number back to it."""


class LentBatch:
    """A batch of one of so many `members`; as `ivm.runtime.export.SealedBatch`."""

    def __init__(
        self,
        rows_of: Callable[[int, int, int], Rows | None],
        give_back: GiveBack,
        member: int,
        lent: Lent,
        members: int,
    ) -> None:
        self.serial = lent.serial * members + member
        self.values = lent.values
        self._rows_of = rows_of
        self._at = (member, lent.number)
        finalize(self, give_back, *self._at).atexit = False

    def rows(self, at_once: int) -> Iterator[Rows]:
        """The rows as pairs of a RecordBatch and its diffs, at most `at_once` rows in each."""
        while (rows := self._rows_of(*self._at, at_once)) is not None:
            yield rows


class LentHold:
    """A hold of a collection on all members; as `ivm.installed.holds.Hold`."""

    def __init__(
        self, name: str, time: int, held: Sequence[tuple[int, int]], give_back: GiveBack
    ) -> None:
        self.name = name
        self.time = time
        self._held = list(held)
        self._give_back = give_back

    def release(self) -> None:
        """Let compaction go on; as often as one likes."""
        while self._held:
            self._give_back(*self._held.pop())

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()
