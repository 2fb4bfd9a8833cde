"""Duplicates: the records of keyed tables that a restarted connector has sent again.

A connector that restarts goes back to the last position that it had noted and sends again what it
had sent since: a suffix of the partition's records, in their order, before anything new. Applying
it again would take the rows of its keys through old states before they end where they were. So a
record is dropped if its position in the database (`order`) was seen in its partition before.

Positions, where known, never go back within a partition, except there:

- PostgreSQL: `source.sequence`, that is (LSN of the last commit, LSN of the change). Changes are
  sent when their transaction commits. Those of two interleaved transactions therefore do not
  ascend by their own LSN, but all of one transaction have the same last commit before them, a later
  transaction has a later one, and within a transaction LSNs ascend.
- MySQL: (number of the binlog file, position in it), which is the order of commits.

Several records may have one position: the rows of one INSERT or of one binlog event, the two halves
of a change of the key. So what equals the last position is new, except that, behind a repetition,
as many come again as were seen of it. A connector that begins again at just that position cannot be
told from one that goes on: its records are kept. Where changes are by key, setting those rows again
leaves them as they are, since all come again up to the last one.

A position that goes back and was not seen is no repetition: the database was restored or failed
over, its log was numbered anew, or the topic merges several databases. Such a record is kept, and
what was seen is forgotten with it, so that everything after it is kept, too: records are dropped
only together with all that followed them. The same holds for a connector that goes back further
than is remembered; its records are applied again, in their order, and end where they were.

What a snapshot reads has no position: it sets rows to what they are, is kept, and says nothing
about what was seen. The same holds for all records of connectors that tell no position.

Decisions depend on the records of a partition alone, not on how they are cut into batches; what is
remembered is rebuilt by a replay from the beginning, and must be kept with a checkpoint.
"""

import base64
import zlib
from collections import Counter, deque
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from connectors.streams import table_of

# Positions remembered for each partition of each table.
REMEMBERED = 16_384

Order = NDArray[np.uint64]
Position = tuple[int, int]

_NOTHING: Order = np.zeros((0, 2), np.uint64)
_UNKNOWN: Position = (0, 0)


@dataclass(frozen=True, slots=True)
class _Seen:
    """The last positions of a partition, ascending; `again`: how many of the last came again.

    That is -1 unless the last record was a repetition.
    """

    positions: Order = field(default_factory=lambda: _NOTHING)
    again: int = -1


@dataclass(slots=True)
class Duplicates:
    """The records seen of each (stream, partition)."""

    _seen: dict[tuple[str, int], _Seen] = field(default_factory=dict)

    def fresh(self, stream: str, partition: int, order: Order) -> NDArray[np.bool_]:
        """A mask of the next records of a partition, at positions `order`, that are new."""
        known = order[(order[:, 0] != 0) | (order[:, 1] != 0)]
        seen = self._seen.get((stream, partition), _Seen())
        fresh = np.ones(len(order), np.bool_)
        if len(known) == 0:
            return fresh
        if seen.again < 0 and not _goes_back(np.concatenate([seen.positions[-1:], known])):
            together = np.concatenate([seen.positions, known])
            self._seen[stream, partition] = _Seen(together[-REMEMBERED:])
            return fresh
        memory = _Memory(seen)
        for i, (high, low) in enumerate(order.tolist()):
            fresh[i] = (high, low) == _UNKNOWN or not memory.repeats((high, low))
        self._seen[stream, partition] = memory.seen()
        return fresh

    def forget(self, table: str) -> None:
        """Forget a table that was dropped."""
        self._seen = {at: seen for at, seen in self._seen.items() if table_of(at[0]) != table}

    def to_json(self, table: str) -> list[Any]:
        """The records seen of a table, for `restore`."""
        return [
            [stream, partition, _packed(seen.positions), seen.again]
            for (stream, partition), seen in self._seen.items()
            if table_of(stream) == table
        ]

    def restore(self, table: str, value: list[Any]) -> None:
        """Remember the records that `to_json` gave."""
        for *named, partition, text, again in value:
            [stream] = named or [table]  # a checkpoint may be of before tables had several
            self._seen[stream, partition] = _Seen(_unpacked(text), again)


class _Memory:
    """The records seen of a partition, one by one: for where positions go back."""

    def __init__(self, seen: _Seen) -> None:
        self._recent = deque((high, low) for high, low in seen.positions.tolist())
        self._counts = Counter(self._recent)
        self._again = seen.again

    def repeats(self, position: Position) -> bool:
        """Whether a record at this position is a repetition; it is seen now."""
        last = self._recent[-1] if self._recent else _UNKNOWN
        if position < last and position in self._counts:
            self._again = 0
            return True
        if position == last and 0 <= self._again < self._counts[last]:
            self._again += 1
            return True
        if position < last:
            self._recent.clear()
            self._counts.clear()
        self._again = -1
        self._recent.append(position)
        self._counts[position] += 1
        if len(self._recent) > REMEMBERED:
            oldest = self._recent.popleft()
            self._counts[oldest] -= 1
            if not self._counts[oldest]:
                del self._counts[oldest]
        return False

    def seen(self) -> _Seen:
        """The records seen by now."""
        return _Seen(np.array(self._recent, np.uint64).reshape(-1, 2), self._again)


def _goes_back(order: Order) -> bool:
    high, low = order[:, 0], order[:, 1]
    down = (high[1:] < high[:-1]) | ((high[1:] == high[:-1]) & (low[1:] < low[:-1]))
    return bool(down.any())


def _packed(seen: Order) -> str:
    steps = np.diff(seen, axis=0, prepend=np.zeros((1, 2), np.uint64))
    return base64.b64encode(zlib.compress(steps.astype(">u8").tobytes(), 1)).decode()


def _unpacked(text: str) -> Order:
    steps = np.frombuffer(zlib.decompress(base64.b64decode(text)), ">u8").reshape(-1, 2)
    return np.cumsum(steps.astype(np.uint64), axis=0, dtype=np.uint64)
