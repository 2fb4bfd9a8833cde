"""Images: the rows that records change, in the order of the records, and records without any."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from connectors.columns.faults import Fault

Row = dict[str, Any]

# Whether the columns of the primary key come out of records' keys: where a record has one, if
# `preferred`.
Keys = Literal["unread", "preferred", "required"]


@dataclass(slots=True)
class Images:
    """Record `owners[i]` changes `rows[i]` by `diffs[i]` (see `connectors.decode.Decoded`).

    `faults` holds, by their index, the records that are no change. `missing` names the columns, by
    their index, that row `i` leaves as they are.
    """

    rows: list[Row] = field(default_factory=list)
    diffs: list[int] = field(default_factory=list)
    owners: list[int] = field(default_factory=list)
    faults: dict[int, Fault] = field(default_factory=dict)
    missing: dict[int, tuple[int, ...]] = field(default_factory=dict)
    tombstones: int = 0
    ignored: int = 0

    def add(self, owner: int, diff: int, row: Row) -> None:
        """Append one change."""
        self.rows.append(row)
        self.diffs.append(diff)
        self.owners.append(owner)

    def set_aside(self, faults: dict[int, Fault]) -> None:
        """Take the images of the records at fault out."""
        kept = [i for i, owner in enumerate(self.owners) if owner not in faults]
        places = {old: new for new, old in enumerate(kept)}
        self.rows = [self.rows[i] for i in kept]
        self.diffs = [self.diffs[i] for i in kept]
        self.owners = [self.owners[i] for i in kept]
        self.missing = {places[i]: c for i, c in self.missing.items() if i in places}
        self.faults |= faults


@dataclass(frozen=True, slots=True)
class Shape:
    """The columns of a row's contents, and those of its primary key among them.

    `is_keyed`: a change sets or deletes the row of its key, so that no other column of a row that
    goes matters.
    """

    names: tuple[str, ...]
    key: tuple[str, ...]
    is_keyed: bool

    def is_row(self, value: Row) -> bool:
        """Whether an object can stand for a row: if it has anything, it has any of the columns."""
        is_key_alone = len(self.names) == len(self.key)
        return not value or is_key_alone or not value.keys().isdisjoint(self.names)

    def blank(self) -> Row:
        """A row without values, as of a truncation."""
        return dict.fromkeys(self.names)

    def keyed(self, image: Any) -> Row | None:
        """A row with the key of `image` alone; None if `image` has no whole key."""
        if type(image) is not dict:
            return None
        row: Row = dict.fromkeys(self.names)
        for name in self.key:
            if (value := image.get(name)) is None:
                return None
            row[name] = value
        return row

    def moved_from(self, before: Row, after: Row) -> Row | None:
        """The row to delete when the key of `before` is whole and another than that of `after`."""
        if all(before.get(name) == after.get(name) for name in self.key):
            return None
        return self.keyed(before)

    def gone(self, image: Row) -> Row | None:
        """The row that is taken away with this image; None if it lacks the primary key."""
        return self.keyed(image) if self.is_keyed else image


@dataclass(frozen=True, slots=True)
class Contents:
    """The contents of consecutive records, as their format reads them; a Fault may be among them.

    `keys` has the columns of the primary key, unless it is None: then the values have them.
    `key_of` reads the key of one record.
    """

    values: Sequence[Any]
    keys: Sequence[Any] | None
    key_of: Callable[[int], Any]
    shape: Shape


@dataclass(frozen=True, slots=True)
class Stamps:
    """When and where each record's change happened in its database; None where nothing says so.

    `ts_ms` is in milliseconds (0: unknown), `order` as `connectors.records.Decoded` has it,
    `transactions` are ids.
    """

    ts_ms: NDArray[np.int64] | None = None
    order: NDArray[np.uint64] | None = None
    transactions: Sequence[str | None] | None = None
