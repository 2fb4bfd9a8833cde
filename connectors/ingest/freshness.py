"""Freshness: for how long a partition has had records that its source has not received.

Ends of partitions are noted as they are seen, with the time. A record before an end was there when
that was seen, and after the end before it; so the oldest record that is missing has been there
since the first noted end beyond the source's position, but for the time between two looks. Records
need no timestamp for this, nor is a clock of another machine trusted.
"""

from collections import deque
from collections.abc import Collection

# So many ends of a partition are known apart: one for each look of a quarter of an hour.
MOST = 900


class Freshness:
    """The ends of partitions that their sources have yet to reach; not to be shared by threads.

    >>> fresh = Freshness()
    >>> fresh.note(("orders", 0), end=5, position=5, now=10.0)
    0.0
    >>> fresh.note(("orders", 0), end=8, position=5, now=11.0)
    0.0
    >>> fresh.note(("orders", 0), end=9, position=7, now=14.0)
    3.0
    """

    def __init__(self) -> None:
        self._ahead: dict[object, deque[tuple[int, float]]] = {}

    def note(self, place: object, end: int, position: int, now: float) -> float:
        """Note where a partition ends and its source stands; how long it is behind, in seconds."""
        ahead = self._ahead.setdefault(place, deque())
        if ahead and end < ahead[-1][0]:
            ahead.clear()  # it is another topic
        if not ahead or end > ahead[-1][0]:
            ahead.append((end, now))
        while ahead and ahead[0][0] <= position:
            ahead.popleft()
        if len(ahead) > MOST:
            _thin(ahead)
        return now - ahead[0][1] if ahead else 0.0

    def keep(self, places: Collection[object]) -> None:
        """Forget all other partitions."""
        for place in self._ahead.keys() - places:
            del self._ahead[place]


def _thin(ahead: deque[tuple[int, float]]) -> None:
    """Tell every second end from the one before it no more; the earlier time holds for both."""
    known = list(ahead)
    ahead.clear()
    for i in range(0, len(known), 2):
        pair = known[i : i + 2]
        ahead.append((pair[-1][0], pair[0][1]))
