"""Slots: the places of what native decoding reads of a value, by their paths."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str, ...]


@dataclass(slots=True)
class Slots:
    """Gives each path that is read a slot; 0 is that of the whole.

    `members` has for each name its slot and its own members. `listed` are the names of the whole's
    members that are arrays of one object.

    >>> slots = Slots()
    >>> slots.of(("after", "id")), slots.of(("after",)), slots.of(())
    (2, 1, 0)
    """

    members: dict[str, Any] = field(default_factory=dict)
    count: int = 1
    listed: frozenset[str] = frozenset()

    def of(self, path: Path) -> int:
        """The slot of a path."""
        members, slot = self.members, 0
        for name in path:
            if name not in members:
                members[name] = (self.count, {})
                self.count += 1
            slot, members = members[name]
        return slot

    def all_of(self, paths: Sequence[Path]) -> tuple[int, ...]:
        """Their slots."""
        return tuple(map(self.of, paths))
