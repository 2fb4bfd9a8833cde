"""Holds: each keeps a collection of a pool readable as of earlier times.

Without one only the last completed time can be read: steps compact the times before it. A hold
keeps the times from one on apart in every arrangement that the collection has by then.
"""

from collections.abc import Callable, Iterable
from types import TracebackType

from ivm.errors import TimeCompacted
from ivm.installed.pieces import Index
from ivm.trace.frontier import Antichain
from ivm.trace.handle import Handle
from ivm.trace.spine import Trace


class Hold:
    """Keeps `name` readable as of every completed time from `time` on, until it is released.

    A context, which releases it at its end. It costs the memory of what changes meanwhile. Dropping
    the collection ends it as well.
    """

    def __init__(
        self, name: str, time: int, traces: Iterable[Trace], ended: Callable[["Hold"], None]
    ) -> None:
        since = Antichain(1, [(time,)])
        self.name = name
        self.time = time
        self._handles = {trace: Handle(trace, since) for trace in traces}
        self._ended = ended

    def covers(self, index: Index, time: int) -> bool:
        """Whether `index` can be read as of `time` thanks to this hold."""
        return time >= self.time and index.trace in self._handles

    def release(self) -> None:
        """Let compaction go on; from any thread, and as often as one likes."""
        self._handles = {}
        self._ended(self)

    def __enter__(self) -> "Hold":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.release()


class Holds:
    """The holds of a pool, `all` that were not released. Make new ones between steps."""

    def __init__(self) -> None:
        self.all: dict[Hold, None] = {}

    def new(self, name: str, time: int, last: int, indexes: Iterable[Index]) -> Hold:
        """Hold `indexes` as of `time`, the pool having completed `last`.

        Those that cannot be read any more as of then are left out; raises TimeCompacted for all.
        """
        held = [index for index in indexes if time >= last or self.cover(index, time)]
        if not held:
            raise TimeCompacted(
                f"time {time} of {name!r} is not kept: without a hold only the last one is, {last}"
            )
        traces = dict.fromkeys(index.trace for index in held)
        hold = Hold(name, time, traces, self._ended)
        self.all[hold] = None
        return hold

    def cover(self, index: Index, time: int) -> bool:
        """Whether any hold keeps `index` readable as of `time`."""
        return any(hold.covers(index, time) for hold in list(self.all))

    @property
    def earliest(self) -> int | None:
        """The earliest time that is held."""
        return min((hold.time for hold in list(self.all)), default=None)

    def end(self, name: str) -> None:
        """Release all holds of a collection that is dropped."""
        for hold in list(self.all):
            if hold.name == name:
                hold.release()

    def _ended(self, hold: Hold) -> None:
        self.all.pop(hold, None)
