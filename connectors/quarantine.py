"""Records that could not be decoded: kept byte for byte, with their coordinates and the reason.

The primary key is (table, partition, offset), so a record that is replayed is kept once. SQLite
gives durability and paging; `add` returns only when the records are on disk.
"""

import sqlite3
import threading
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass
from pathlib import Path

_SCHEMA = """
CREATE TABLE IF NOT EXISTS rejected (
"table" TEXT NOT NULL, topic TEXT NOT NULL, partition INTEGER NOT NULL, "offset" INTEGER NOT NULL,
reason TEXT NOT NULL, message TEXT NOT NULL, value BLOB NOT NULL, seen_ms INTEGER NOT NULL,
PRIMARY KEY ("table", partition, "offset")
)
"""


@dataclass(frozen=True, slots=True)
class Rejected:
    """One quarantined record: `value` is the line as it stands in the topic, without its newline.

    `reason` is one of `connectors.decode.REASONS`; `seen_ms` is when it was first met (epoch, ms).
    """

    table: str
    topic: str
    partition: int
    offset: int
    reason: str
    message: str
    value: bytes
    seen_ms: int


class Quarantine:
    """A durable set of rejected records; safe to call from several threads."""

    def __init__(self, path: Path) -> None:
        """Open or create the store at `path` (a file; its directory must exist)."""
        self._lock = threading.Lock()
        self._database = sqlite3.connect(path, check_same_thread=False)
        self._database.execute("PRAGMA journal_mode = WAL")
        self._database.execute("PRAGMA synchronous = FULL")
        self._database.execute(_SCHEMA)
        query = 'SELECT "table", topic, reason, count(*) FROM rejected GROUP BY 1, 2, 3'
        self._counts = {(t, p, r): n for t, p, r, n in self._database.execute(query)}

    def add(self, records: Iterable[Rejected]) -> int:
        """Keep `records` durably and return how many were new."""
        added = 0
        with self._lock, self._database:
            for record in records:
                cursor = self._database.execute(
                    "INSERT OR IGNORE INTO rejected VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                    astuple(record),
                )
                if cursor.rowcount:
                    added += 1
                    key = (record.table, record.topic, record.reason)
                    self._counts[key] = self._counts.get(key, 0) + 1
        return added

    def page(
        self, limit: int, after: tuple[str, int, int] | None = None, table: str | None = None
    ) -> list[Rejected]:
        """At most `limit` records in the order of (table, partition, offset), those beyond `after`.

        The coordinates of the last record of a page are the `after` of the next.
        """
        query = (
            'SELECT * FROM rejected WHERE ("table", partition, "offset") > (?, ?, ?) '
            'AND (? IS NULL OR "table" = ?) ORDER BY "table", partition, "offset" LIMIT ?'
        )
        position = after if after is not None else ("", -1, -1)
        with self._lock:
            rows = self._database.execute(query, (*position, table, table, limit)).fetchall()
        return [Rejected(*row) for row in rows]

    def counts(self) -> Mapping[tuple[str, str, str], int]:
        """How many records are kept, by (table, topic, reason)."""
        with self._lock:
            return dict(self._counts)

    def close(self) -> None:
        """Release the file."""
        with self._lock:
            self._database.close()
