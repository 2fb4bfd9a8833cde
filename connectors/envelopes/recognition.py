"""Recognition: how records of an envelope are told from others, before anything is declared."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

# A record's value and key -> the columns of the primary key that they name.
NamesKey = Callable[[Mapping[str, Any], Any], Sequence[str]]


def members_of_key(value: Mapping[str, Any], key: Any) -> Sequence[str]:
    """The members of the record's key, if it is an object."""
    return list(key) if isinstance(key, Mapping) else []


@dataclass(frozen=True, slots=True)
class Recognition:
    """Members that tell an envelope's records, and where rows and primary key are in them.

    `signs`: sets of members, one of which is in each record; none where records are plain rows.
    `rows` is the member that holds whole rows, or an array of them; empty where the value is one.
    `columns` are those of every table, where the envelope decides them; the first is the key.

    >>> Recognition((frozenset({"op", "after"}),)).fits({"op": "c", "after": {}, "ts_ms": 1})
    2
    """

    signs: tuple[frozenset[str], ...] = ()
    rows: str = ""
    columns: pa.Schema | None = None
    key: NamesKey = members_of_key

    def fits(self, members: Mapping[str, Any]) -> int:
        """How many of a value's members are signs of the envelope; 0 if it is none of its."""
        return max((len(sign) for sign in self.signs if sign <= members.keys()), default=0)

    def rows_of(self, value: Mapping[str, Any]) -> list[Mapping[str, Any]]:
        """The whole rows in a value."""
        found = value.get(self.rows) if self.rows else value
        rows = found if isinstance(found, list) else [found]
        return [row for row in rows if isinstance(row, Mapping)]
